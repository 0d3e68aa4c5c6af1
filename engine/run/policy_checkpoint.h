#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/base/result.h"
#include "tuner/policy.h"

namespace forebay {

/// Where the learned state of a policy with a job is kept between runs: a small file, written aside
/// and renamed, with a digest of what it holds.
class LearnedStateFile {
 public:
  explicit LearnedStateFile(std::string path) : path_(std::move(path)) {}

  /// kNotFound when there is none; kCorrupt when it is not as it was written; kInvalid when it is
  /// of another version or no regular file; kUnavailable when it cannot be read.
  Result<std::string> read() const;
  /// What could not be written whole is removed; what was there before stays.
  Status write(const std::string& learned_state) const;

 private:
  std::string path_;
};

/// A policy that keeps its learned state: as it was some decisions ago, and at its end. What cannot
/// be kept is let go, and `lost` is told why, once; no job fails for it.
class PolicyCheckpoint final : public tuner::Policy {
 public:
  using Lost = std::function<void(const std::string& why)>;

  PolicyCheckpoint(std::unique_ptr<tuner::Policy> policy, LearnedStateFile file, Lost lost)
      : policy_(std::move(policy)), file_(std::move(file)), lost_(std::move(lost)) {}
  ~PolicyCheckpoint() override;
  PolicyCheckpoint(const PolicyCheckpoint&) = delete;
  PolicyCheckpoint& operator=(const PolicyCheckpoint&) = delete;

  std::string_view name() const override { return policy_->name(); }
  tuner::Proposal decide(const tuner::Observation& seen) override;
  std::string learned_state() const override { return policy_->learned_state(); }
  bool restore(std::string_view learned_state) override { return policy_->restore(learned_state); }

 private:
  void keep() noexcept;

  const std::unique_ptr<tuner::Policy> policy_;
  const LearnedStateFile file_;
  Lost lost_;  // empty once it was told
  int decisions_ = 0;
};

}  // namespace forebay
