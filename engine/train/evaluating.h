#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "engine/job/job_spec.h"
#include "engine/run/job_run.h"
#include "engine/run/run_events.h"
#include "trainer/evaluations.h"
#include "trainer/model.h"

namespace forebay {

/// How good a model is on rows that it was not trained on: a share held out of the dataset, or
/// files of their own. In the middle of a run, every `trainer.evaluate_every` steps, and at its
/// end.
///
/// Opened before training, so that what is wrong with those rows shows before hours are spent.
/// Owns their dataset, what was found so far and, while it scores them, a pipeline. In the middle
/// that pipeline stands beside the one that trains, which waits, in free_bytes() bytes that were
/// left to it from the start; at the end it has all. Training goes on from an evaluation as if
/// there had been none. The job must outlive it. Belongs to the model's thread.
class Evaluating {
 public:
  /// Without rows where the model does not learn or the job names none to evaluate on. Refuses
  /// files whose columns are not those of the dataset that is `trained` on.
  /// Speaks by `events`, which outlive it.
  static Result<Evaluating> open(const JobSpec& job, const Schema& trained,
                                 const RunEvents& events);

  /// What the run has to leave free for evaluations in the middle; 0 when there are none.
  std::uint64_t free_bytes() const;
  /// Whether an evaluation at the end fits beside `resident` bytes; says how much is needed if not.
  Status fits(std::uint64_t resident) const;

  /// Goes on from what a checkpoint kept after `batches` batches.
  Status restore(const std::string& kept, std::uint64_t batches);
  /// What a checkpoint keeps.
  std::string kept() const { return to_json(found_); }
  const std::vector<Evaluated>& found() const { return found_; }
  EvaluationState current() const { return judge(job_->trainer, found_); }

  /// Whether the model is to be evaluated after this step, and was not yet.
  bool due(std::uint64_t step) const;
  /// Does so beside `main`, which is paused. Nothing once a stop is asked for.
  Result<std::optional<Quality>> in_the_middle(Model& model, JobRun& main, std::uint64_t step);

  /// The same once the pipeline that trained is gone, beside `resident` bytes; what was found after
  /// this step before counts. Nothing where there are no rows, or once a stop is asked for.
  Result<std::optional<Quality>> at_end(Model& model, std::uint64_t resident, std::uint64_t step);

 private:
  Evaluating(const JobSpec& job, const RunEvents& events) : job_(&job), events_(&events) {}

  std::uint64_t scores_bytes() const;
  std::uint64_t pipeline_bytes() const;
  void say(const std::string& what) const;
  void stalled(const std::string& what);
  Result<std::optional<Quality>> score(Model& model, std::uint64_t step);

  const JobSpec* job_;
  const RunEvents* events_;
  std::unique_ptr<JobRun> rows_;  // absent when nothing is evaluated
  std::vector<Evaluated> found_;  // since the job's start
};

}  // namespace forebay
