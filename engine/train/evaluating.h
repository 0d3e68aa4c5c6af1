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
#include "trainer/evaluation/evaluation.h"
#include "trainer/model.h"

namespace forebay {

/// Measures a model's quality on rows that it was not trained on: a share held out of the dataset,
/// or separate files. Evaluates during a run, every `trainer.evaluate_every` steps, and at its end.
///
/// Opened before training, so that errors in those rows are reported before hours are spent. Owns
/// their dataset, the results so far and, while it scores them, a pipeline. During training this
/// pipeline exists beside the paused training pipeline, in free_bytes() bytes that were reserved
/// from the start; at the end it uses all memory. An evaluation does not change the training that
/// follows. The job must outlive it. Belongs to the model's thread.
class Evaluating {
 public:
  /// Has no rows if the model does not learn or the job names no rows to evaluate on. Refuses files
  /// if their columns differ from those of the `trained` dataset. Reports through `events`, which
  /// outlive it.
  static Result<Evaluating> open(const JobSpec& job, const Schema& trained,
                                 const RunEvents& events);

  /// Returns the bytes that the run has to leave free for evaluations during training; 0 without
  /// such evaluations.
  std::uint64_t free_bytes() const;
  /// Checks that an evaluation at the end fits in addition to `resident` bytes; the error says how
  /// much is needed.
  Status fits(std::uint64_t resident) const;

  /// Continues with the results that a checkpoint kept after `batches` batches.
  Status restore(const std::string& kept, std::uint64_t batches);
  /// Returns the results for a checkpoint.
  std::string kept() const { return to_json(found_); }
  const std::vector<Evaluated>& found() const { return found_; }
  /// Returns the path of the file that keeps the damaged rows of the evaluation files; "" without
  /// rows to evaluate on.
  std::string quarantine() const { return rows_ ? rows_->quarantine_path() : ""; }
  EvaluationState current() const { return judge(job_->trainer, found_); }

  /// Returns whether the model has to be evaluated after this step and was not yet.
  bool due(std::uint64_t step) const;
  /// Evaluates while `main` is paused. Returns nullopt after a stop request.
  Result<std::optional<Quality>> in_the_middle(Model& model, JobRun& main, std::uint64_t step);

  /// Evaluates after the training pipeline was destroyed, with `resident` bytes in use; reuses the
  /// result of an evaluation after the same step. Returns nullopt without rows or after a stop
  /// request.
  Result<std::optional<Quality>> at_end(Model& model, std::uint64_t resident, std::uint64_t step);

 private:
  Evaluating(const JobSpec& job, const RunEvents& events) : job_(&job), events_(&events) {}

  std::uint64_t scores_bytes() const;
  std::uint64_t pipeline_bytes() const;
  Result<std::optional<Quality>> score(Model& model, std::uint64_t step);
  void add(std::uint64_t step, const Quality& quality);

  const JobSpec* job_;
  const RunEvents* events_;
  std::unique_ptr<JobRun> rows_;  // null if nothing is evaluated
  std::vector<Evaluated> found_;  // since the job's start
  std::uint64_t announced_bad_rows_ = 0;
};

}  // namespace forebay
