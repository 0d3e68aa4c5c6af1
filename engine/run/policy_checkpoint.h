#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "core/base/result.h"
#include "engine/run/job_run.h"
#include "tuner/policy.h"

namespace forebay {

/// Identifies the kind of work that a job does: its operators, columns, format and batch size. Runs
/// of equal work can reuse what was learned of it, whatever their files. 16 hexadecimal digits.
std::string name_of_work(const JobRun& run);

/// Reads the learned state of a policy for a job, kept between runs: a small file with a digest of
/// its content. kNotFound: the file does not exist; kCorrupt: its content does not match the
/// digest; kInvalid: another version, or not a regular file; kUnavailable: it cannot be read.
Result<std::string> read_learned_state(const std::string& path);
/// Writes it to a temporary name and renames it. If the new file cannot be written completely,
/// removes it and keeps the old one.
Status write_learned_state(const std::string& path, const std::string& learned_state);

/// A policy that saves its learned state every few decisions and at its end. If it cannot be saved,
/// calls `lost` once with the reason; no job fails for it.
class PolicyCheckpoint final : public tuner::Policy {
 public:
  using Lost = std::function<void(const std::string& why)>;

  PolicyCheckpoint(std::unique_ptr<tuner::Policy> policy, std::string path, Lost lost)
      : policy_(std::move(policy)), path_(std::move(path)), lost_(std::move(lost)) {}
  ~PolicyCheckpoint() override;

  std::string_view name() const override { return policy_->name(); }
  tuner::Proposal decide(const tuner::Observation& seen) override;
  std::string learned_state() const override { return policy_->learned_state(); }
  bool restore(std::string_view learned_state) override { return policy_->restore(learned_state); }

 private:
  void keep() noexcept;

  const std::unique_ptr<tuner::Policy> policy_;
  const std::string path_;
  Lost lost_;  // empty once it was called
  int decisions_ = 0;
};

/// Returns the learned states of the tuner's policies in `run_dir`, as small files of a checkpoint:
/// "tuner/POLICY-WORK" → content. Files that cannot be read are left out.
std::map<std::string, std::string> saved_learned_state(const std::string& run_dir);

/// Writes a checkpoint's learned states into `run_dir` unless files of these names exist, so that a
/// resume on another machine continues with them. Files that cannot be written are skipped; no job
/// fails for them.
void restore_learned_state(const std::map<std::string, std::string>& texts,
                           const std::string& run_dir);

}  // namespace forebay
