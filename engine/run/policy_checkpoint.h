#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/base/result.h"
#include "tuner/policy.h"

namespace forebay {

/// File with the learned state of a policy for a job, kept between runs: a small file, written to a
/// temporary name and renamed, with a digest of its content.
class LearnedStateFile {
 public:
  explicit LearnedStateFile(std::string path) : path_(std::move(path)) {}

  /// kNotFound: the file does not exist; kCorrupt: its content does not match the digest; kInvalid:
  /// another version, or not a regular file; kUnavailable: it cannot be read.
  Result<std::string> read() const;
  /// If the new file cannot be written completely, removes it and keeps the old one.
  Status write(const std::string& learned_state) const;

 private:
  std::string path_;
};

/// A policy that saves its learned state every few decisions and at its end. If it cannot be saved,
/// calls `lost` once with the reason; no job fails for it.
class PolicyCheckpoint final : public tuner::Policy {
 public:
  using Lost = std::function<void(const std::string& why)>;

  PolicyCheckpoint(std::unique_ptr<tuner::Policy> policy, LearnedStateFile file, Lost lost)
      : policy_(std::move(policy)), file_(std::move(file)), lost_(std::move(lost)) {}
  ~PolicyCheckpoint() override;

  std::string_view name() const override { return policy_->name(); }
  tuner::Proposal decide(const tuner::Observation& seen) override;
  std::string learned_state() const override { return policy_->learned_state(); }
  bool restore(std::string_view learned_state) override { return policy_->restore(learned_state); }

 private:
  void keep() noexcept;

  const std::unique_ptr<tuner::Policy> policy_;
  const LearnedStateFile file_;
  Lost lost_;  // empty once it was called
  int decisions_ = 0;
};

}  // namespace forebay
