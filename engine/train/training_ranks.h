#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "engine/job/job_spec.h"
#include "engine/ranks/leading_model.h"
#include "engine/ranks/rank_environment.h"
#include "engine/ranks/rank_leader.h"
#include "engine/ranks/rank_meeting.h"
#include "engine/run/run_events.h"
#include "engine/train/train_report.h"
#include "engine/train/trained_model.h"
#include "trainer/collective.h"
#include "trainer/model.h"
#include "trainer/saving/checkpoint.h"

namespace forebay {

/// Returns how this rank reaches the others, except for the address. Each rank may request `stop`;
/// `stop` and `events`, which reports go to, outlive the connections.
RankOptions rank_options(const JobSpec& job, const RankEnvironment& ranks, StopSource& stop,
                         const RunEvents& events);

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
  /// Sends the schema of the batches, and the bounds of their ids, to the other ranks.
  void accept(const Schema& schema, const MostIds& ids);
  /// Makes the model of all ranks from rank 0's own model of `job` over `schema`.
  std::unique_ptr<Model> lead(std::unique_ptr<Model> own, const JobSpec& job, const Schema& schema);
  Status wait_until_ready() { return alone() ? Status{} : leader_->wait_until_ready(); }
  /// Prepares the model of `job` over `schema` to restore this checkpoint.
  void goes_on_from(const Checkpoint& checkpoint, const JobSpec& job, const Schema& schema);
  /// Bytes of waiting slices for the job's batch size.
  std::uint64_t slice_bytes(const JobSpec& job, const BatchColumns& columns) const;
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

/// A training run on every rank but 0: opens no data and keeps no files; trains on the rows that
/// rank 0 sends until rank 0 ends the run. Prints one line at its end.
///
/// Owns the network and this rank's part of the model. run() is called once, on the thread that
/// becomes the model's.
class FollowRun {
 public:
  /// Gets what this rank did before the rank disconnects. Rank 0 waits for that (2 s at most), so
  /// what it prints afterwards is last on an output that all ranks share.
  using OnTrained = std::function<void(const RankReport&)>;

  /// `stop` stops this rank and, through it, all others.
  FollowRun(JobSpec job, RankEnvironment ranks, StopSource& stop, RunEvents events,
            OnTrained on_trained);

  TrainEnd run();

 private:
  Status meet();
  TrainEnd follow_to_the_end();
  Result<std::unique_ptr<Model>> make_part();

  JobSpec job_;
  const RankEnvironment ranks_;
  StopSource& stop_;
  const RunEvents events_;
  const OnTrained on_trained_;
  const SystemClock clock_;
  std::optional<MetLeader> met_;
  std::unique_ptr<Model> model_;  // destroyed before the ranks
};

}  // namespace forebay
