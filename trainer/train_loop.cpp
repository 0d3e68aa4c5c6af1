#include "trainer/train_loop.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace forebay {

double TrainProgress::starved_ratio() const {
  if (elapsed.count() <= 0) return 0;
  return static_cast<double>(waited.count()) / static_cast<double>(elapsed.count());
}

TrainLoop::TrainLoop(Model& model, BatchSource& source, const Clock& clock, Options options)
    : model_(model), source_(source), clock_(clock), options_(std::move(options)) {
  progress_.position = options_.start;
  progress_.losses = options_.losses;
}

Result<TrainProgress> TrainLoop::run(const std::atomic<bool>& stop) {
  began_ = last_save_ = clock_.now();
  while (!stop.load() && (options_.max_batches == 0 || progress_.batches < options_.max_batches)) {
    const auto asked = clock_.now();
    auto batch = source_.next();
    progress_.waited += clock_.now() - asked;
    if (!batch) return pass(batch);
    if (*batch == nullptr) break;
    if (auto trained = train_on(**batch); !trained) return pass(trained);
    batch->reset();
    if (options_.on_step) {
      if (auto reported = options_.on_step(progress_); !reported) return pass(reported);
    }
    if (auto kept = save_if_due(); !kept) return pass(kept);
  }
  progress_.stopped = stop.load();
  // A run that did nothing leaves what is there as it is.
  if (progress_.batches > saved_batches_) {
    if (auto kept = save(); !kept) return pass(kept);
  }
  progress_.elapsed = clock_.now() - began_;
  return progress_;
}

Status TrainLoop::train_on(const Batch& batch) {
  const auto began = clock_.now();
  auto loss = model_.step(batch);
  if (!loss) return pass(loss);
  if (model_.learns() && !std::isfinite(*loss)) {
    return fail(Code::kCorrupt,
                "the loss of batch " + std::to_string(batch.number) + " is " +
                    (std::isnan(*loss) ? "not a number" : "infinite") +
                    "; lower trainer.learning_rate, or look for nan, inf and huge values in the "
                    "dense columns (log1p and clamp tame them)");
  }
  if (model_.learns()) progress_.losses.add(*loss);
  const auto now = clock_.now();
  progress_.stepped += now - began;
  progress_.elapsed = now - began_;
  progress_.batches += 1;
  progress_.rows += batch.rows;
  progress_.position = batch.after;
  return {};
}

Status TrainLoop::save_if_due() {
  if (options_.checkpoint_every.count() <= 0) return {};
  if (clock_.now() - last_save_ < options_.checkpoint_every) return {};
  return save();
}

Status TrainLoop::save() {
  if (!options_.save) return {};
  const auto began = clock_.now();
  if (auto saved = options_.save(progress_); !saved) return saved;
  saved_batches_ = progress_.batches;
  last_save_ = clock_.now();
  progress_.saved += last_save_ - began;
  return {};
}

Result<std::optional<Quality>> evaluate(Model& model, BatchSource& source,
                                        const std::atomic<bool>& stop) {
  Evaluation evaluation;
  std::vector<float> scores;
  while (!stop.load()) {
    auto batch = source.next();
    if (!batch) return pass(batch);
    if (*batch == nullptr) break;
    const Batch& rows = **batch;
    scores.resize(rows.rows);
    if (auto scored = model.predict(rows, scores); !scored) return pass(scored);
    if (auto added = evaluation.add(scores, {rows.labels, rows.rows}); !added) return pass(added);
  }
  if (stop.load()) return std::optional<Quality>();
  return std::optional<Quality>(evaluation.finish());
}

}  // namespace forebay
