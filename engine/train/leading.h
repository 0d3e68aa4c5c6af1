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
#include "trainer/checkpoint.h"
#include "trainer/collective.h"
#include "trainer/model.h"

namespace forebay {

/// How ranks speak by `events`, which outlive it.
std::function<void(const std::string&)> say_of_ranks(const RunEvents& events);

/// Rank 0's part in a training run of several ranks; nothing is there when it trains alone.
///
/// Owns the collective and the leader. open() before the job is opened, in the order of the calls
/// below. Belongs to the model's thread.
class Leading {
 public:
  /// Meets the other ranks (rank_meeting.h), one of which may ask `stop`. After a failure the
  /// process has to end without destructors.
  static Result<Leading> open(const JobSpec& job, const std::optional<RankEnvironment>& ranks,
                              StopSource& stop, const RunEvents& events);

  bool alone() const { return leader_ == nullptr; }
  /// Null when alone.
  Collective* ranks() const { return ranks_.get(); }
  bool has_lost_a_rank() const;
  /// Tells the others what batches are like.
  Status accept(const Schema& schema);
  /// The model of all ranks, of rank 0's, which is that of `job` over `schema`.
  std::unique_ptr<Model> lead(std::unique_ptr<Model> own, const JobSpec& job, const Schema& schema);
  Status wait_until_ready() { return alone() ? Status{} : leader_->wait_until_ready(); }
  /// The model of `job` over `schema` is about to go on from this one.
  void goes_on_from(const Checkpoint& checkpoint, const JobSpec& job, const Schema& schema);
  /// Of slices that wait, where a batch has so many rows.
  std::uint64_t slice_bytes(const JobSpec& job, const Schema& schema) const;
  /// What the model of rank 0 trains on.
  BatchSource& dealt(BatchSource& batches);
  /// The run is over; `signal` asked for it, or 0. Before the process ends, however it ends.
  void end(const Status& how, int signal);

 private:
  Leading() = default;

  std::unique_ptr<SystemClock> clock_;
  std::unique_ptr<Collective> ranks_;
  std::unique_ptr<RankLeader> leader_;
  LeadingModel* model_ = nullptr;  // who asked for it owns it
};

}  // namespace forebay
