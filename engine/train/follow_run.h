#pragma once

#include <memory>
#include <optional>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "engine/job/job_spec.h"
#include "engine/ranks/rank_environment.h"
#include "engine/ranks/rank_meeting.h"
#include "engine/run/run_events.h"
#include "engine/train/train_report.h"
#include "trainer/model.h"

namespace forebay {

/// A training run on every rank but 0: opens no data and keeps no files; trains on the rows that
/// rank 0 sends until rank 0 ends the run. Prints one line at its end.
///
/// Owns the link and this rank's part of the model. run() is called once, on the thread that
/// becomes the model's.
class FollowRun {
 public:
  /// `stop` stops this rank and, through it, all others.
  FollowRun(JobSpec job, RankEnvironment ranks, StopSource& stop, RunEvents events);

  TrainEnd run();

 private:
  Status meet();
  TrainEnd follow_to_the_end();
  Result<std::unique_ptr<Model>> make_part();

  JobSpec job_;
  const RankEnvironment ranks_;
  StopSource& stop_;
  const RunEvents events_;
  const SystemClock clock_;
  std::optional<MetLeader> met_;
  std::unique_ptr<Model> model_;  // destroyed before the ranks
};

}  // namespace forebay
