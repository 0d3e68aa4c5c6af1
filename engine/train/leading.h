#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "engine/job/job_spec.h"
#include "engine/ranks/leading_model.h"
#include "engine/ranks/rank_environment.h"
#include "engine/ranks/rank_leader.h"
#include "engine/run/run_events.h"
#include "trainer/collective.h"
#include "trainer/model.h"
#include "trainer/saving/checkpoint.h"

namespace forebay {

/// Returns a function that reports messages of ranks through `events`, which outlive it.
std::function<void(const std::string&)> say_of_ranks(const RunEvents& events);

/// Rank 0's part in a training run of several ranks; does nothing for a single trainer.
///
/// Owns the collective and the leader. Call open() before the job is opened, then the functions in
/// the order below. Belongs to the model's thread.
class Leading {
 public:
  /// Connects to the other ranks (rank_meeting.h); each of them may request `stop`. After a failure
  /// the process must end without destructors.
  static Result<Leading> open(const JobSpec& job, const std::optional<RankEnvironment>& ranks,
                              StopSource& stop, const RunEvents& events);

  bool alone() const { return leader_ == nullptr; }
  /// Null for a single trainer.
  Collective* ranks() const { return ranks_.get(); }
  bool has_lost_a_rank() const;
  /// Sends the schema of the batches to the other ranks.
  Status accept(const Schema& schema);
  /// Makes the model of all ranks from rank 0's own model of `job` over `schema`.
  std::unique_ptr<Model> lead(std::unique_ptr<Model> own, const JobSpec& job, const Schema& schema);
  Status wait_until_ready() { return alone() ? Status{} : leader_->wait_until_ready(); }
  /// Prepares the model of `job` over `schema` to restore this checkpoint.
  void goes_on_from(const Checkpoint& checkpoint, const JobSpec& job, const Schema& schema);
  /// Bytes of waiting slices for the job's batch size.
  std::uint64_t slice_bytes(const JobSpec& job, const Schema& schema) const;
  /// Returns the source of rank 0's slices of `batches`.
  BatchSource& dealt(BatchSource& batches);
  /// Ends the run on all ranks; `signal` requested the stop, or 0. Call it before the process ends
  /// in any way.
  void end(const Status& how, int signal);

 private:
  Leading() = default;

  std::unique_ptr<SystemClock> clock_;
  std::unique_ptr<Collective> ranks_;
  std::unique_ptr<RankLeader> leader_;
  LeadingModel* model_ = nullptr;  // owned by the caller of lead()
};

}  // namespace forebay
