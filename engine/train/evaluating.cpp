#include "engine/train/evaluating.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <utility>

#include "actors/sizing.h"
#include "core/base/text/counted.h"
#include "core/runtime/ticker.h"
#include "engine/job/quantity.h"
#include "engine/run/run_watch.h"
#include "engine/run/watch/stream_watch.h"
#include "trainer/train_loop.h"

namespace forebay {
namespace {

constexpr auto kAll = std::numeric_limits<std::uint64_t>::max();
/// An evaluation during training uses more than one part in so many of `pipeline.memory` only if it
/// must.
constexpr std::uint64_t kUsualShare = 8;
/// Time between two samples of an evaluation during training.
constexpr std::chrono::milliseconds kPeriod{200};

std::string without_rows(const JobSpec& job, std::uint64_t rows) {
  if (!job.trainer.evaluate.empty()) return "trainer.evaluate: no row was left to evaluate on";
  return "trainer.evaluate_share = " + printed("%g", job.trainer.evaluate_share) +
         " holds out none of the dataset's " + format_count(rows) +
         " rows: there is nothing to evaluate on; raise it";
}

}  // namespace

Result<Evaluating> Evaluating::open(const JobSpec& job, const Schema& trained,
                                    const RunEvents& events) {
  Evaluating made(job, events);
  const bool files = !job.trainer.evaluate.empty();
  if (!learns(job.trainer.model) || (!files && job.trainer.evaluate_share == 0)) return made;
  const auto rows = files ? JobRun::Rows::kEvaluationFiles : JobRun::Rows::kHeldOut;
  auto opened = JobRun::open(job, rows, events.hooks());
  if (!opened) return pass(opened);
  if (auto same = check_evaluation_columns((*opened)->dataset(), trained); !same) return pass(same);
  made.rows_ = std::move(*opened);
  return made;
}

// Rows are held out at random, so their number is close to the share but not equal to it.
std::uint64_t Evaluating::scores_bytes() const {
  const double share = job_->trainer.evaluate.empty() ? job_->trainer.evaluate_share : 1;
  const auto rows = static_cast<double>(rows_->dataset().rows());
  const auto most = static_cast<std::uint64_t>(std::min(rows, rows * share * 1.05 + 1000));
  return Evaluation::bytes(job_->trainer.evaluate_auc, most);
}

/// Enough for its actors to work at the same time, or the minimum if that is too much.
std::uint64_t Evaluating::pipeline_bytes() const {
  const MemorySizes sizes = rows_->sizes();
  const auto actors = job_->pipeline.total_actors();
  const std::uint64_t good = threads_bytes(actors) +
                             window_for(actors, job_->stages.size(), sizes) + sizes.cutting +
                             3 * sizes.batch;
  const std::uint64_t usual = job_->pipeline.memory_bytes / kUsualShare;
  return std::max(least_room(actors, sizes), std::min(good, usual));
}

std::uint64_t Evaluating::free_bytes() const {
  if (!rows_ || job_->trainer.evaluate_every == 0) return 0;
  return pipeline_bytes() + scores_bytes();
}

Status Evaluating::fits(std::uint64_t resident) const {
  return rows_ ? rows_->fits(resident + scores_bytes()) : Status{};
}

Status Evaluating::restore(const std::string& kept, std::uint64_t batches) {
  auto found = parse_evaluations(kept);
  if (!found || (!found->empty() && found->back().step > batches)) {
    return fail(Code::kCorrupt,
                "the checkpoint's evaluations.json is damaged or not of this version of forebay; "
                "start anew with --restart");
  }
  found_ = std::move(*found);
  return {};
}

bool Evaluating::due(std::uint64_t step) const {
  const std::uint64_t every = job_->trainer.evaluate_every;
  if (!rows_ || every == 0 || step == 0 || step % every != 0) return false;
  return found_.empty() || found_.back().step != step;
}

Result<std::optional<Quality>> Evaluating::in_the_middle(Model& model, JobRun& main,
                                                         std::uint64_t step) {
  if (events_->stop_requested()) return std::optional<Quality>();
  const MeteredSource::Pause pause(main.source());
  JobRun::Sharing sharing;
  sharing.on_given = [&main](const Position&) { main.source().note_beside(); };
  const std::uint64_t others = job_->pipeline.memory_bytes - kMemorySlack - pipeline_bytes();
  if (auto started = rows_->start(others, kAll, sharing); !started) return pass(started);
  auto quality = [&] {
    StreamWatch stream({.run = *rows_,
                        .spec = job_->run,
                        .events = *events_,
                        .say = [this](const std::string& what) { events_->announce(what); },
                        .prefix = "evaluation: "});
    const Ticker ticker(kPeriod, [&] { stream.look(); });
    return score(model, step);
  }();
  rows_->close();
  return quality;
}

Result<std::optional<Quality>> Evaluating::at_end(Model& model, std::uint64_t resident,
                                                  std::uint64_t step) {
  if (!rows_) return std::optional<Quality>();
  if (!found_.empty() && found_.back().step == step) return std::optional(found_.back().quality);
  if (events_->stop_requested()) return std::optional<Quality>();
  if (auto started = rows_->start(resident + scores_bytes(), kAll); !started) return pass(started);
  const RunWatch watch({.run = *rows_, .job = *job_, .name = "evaluate", .events = *events_});
  return score(model, step);
}

Result<std::optional<Quality>> Evaluating::score(Model& model, std::uint64_t step) {
  static const std::atomic<bool> never{false};
  const std::atomic<bool>& stop = events_->stop != nullptr ? events_->stop->flag() : never;
  auto quality = evaluate(model, rows_->source(), Evaluation(job_->trainer.evaluate_auc), stop);
  if (quality && *quality) add(step, **quality);
  return quality;
}

// Evaluations of one run leave out the same rows, so the line comes once.
void Evaluating::add(std::uint64_t step, const Quality& quality) {
  const bool files = !job_->trainer.evaluate.empty();
  const std::uint64_t bad_rows = files ? rows_->bad_rows() : 0;
  found_.push_back({step, quality, bad_rows});
  if (bad_rows != announced_bad_rows_) {
    events_->announce("trainer.evaluate: " + format_counted(bad_rows, "damaged row") +
                      " left out of the evaluation, see " + quarantine());
    announced_bad_rows_ = bad_rows;
  }
  if (quality.rows == 0) events_->announce(without_rows(*job_, rows_->dataset().rows()));
}

}  // namespace forebay
