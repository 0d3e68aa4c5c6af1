#include "trainer/train_loop.h"

#include <vector>

namespace forebay {

TrainLoop::TrainLoop(Model& model, BatchSource& source, const Clock& clock, Options options)
    : model_(model), source_(source), clock_(clock), options_(std::move(options)) {
  progress_.position = options_.start;
  progress_.losses = options_.losses;
}

Result<TrainProgress> TrainLoop::run(const std::atomic<bool>& stop) {
  begin();
  Result<bool> goes_on = true;
  while (goes_on && *goes_on) goes_on = step(stop);
  if (!goes_on) return pass(goes_on);
  return progress_;
}

Result<bool> TrainLoop::step(const std::atomic<bool>& stop) {
  if (stop.load() || (options_.max_batches > 0 && progress_.batches >= options_.max_batches)) {
    return end(stop.load());
  }
  progress_.enough = options_.enough && options_.enough();
  if (progress_.enough) return end(stop.load());
  const auto asked = clock_.now();
  auto batch = source_.next();
  progress_.waited += clock_.now() - asked;
  if (!batch) return pass(batch);
  if (*batch == nullptr) return end(stop.load());
  if (auto trained = train_on(**batch); !trained) return pass(trained);
  batch->reset();
  if (options_.on_step) {
    if (auto reported = options_.on_step(progress_); !reported) return pass(reported);
  }
  save_if_due();
  return true;
}

bool TrainLoop::end(bool stopped) {
  progress_.stopped = stopped;
  progress_.elapsed = clock_.now() - began_;
  return false;
}

Status TrainLoop::train_on(const Batch& batch) {
  const auto began = clock_.now();
  auto loss = model_.step(batch);
  if (!loss) return pass(loss);
  if (model_.learns()) progress_.losses.add(*loss);
  progress_.loss = *loss;
  const auto now = clock_.now();
  progress_.stepped += now - began;
  progress_.elapsed = now - began_;
  progress_.batches += 1;
  progress_.rows += batch.rows;
  progress_.position = batch.after;
  return {};
}

void TrainLoop::save_if_due() {
  if (!options_.save) return;
  const auto began = clock_.now();
  const auto every = options_.checkpoint_every;
  const std::uint64_t steps = options_.checkpoint_steps;
  if (every.count() > 0 && began - last_save_ >= every) save_due_ = true;
  if (steps > 0 && progress_.position.batches % steps == 0) save_due_ = true;
  if (!save_due_) return;
  const bool begun = options_.save(progress_);
  save_due_ = !begun;
  if (begun) last_save_ = clock_.now();
  progress_.saved += clock_.now() - began;
}

Result<std::optional<Quality>> evaluate(Model& model, BatchSource& source, Evaluation evaluation,
                                        const std::atomic<bool>& stop) {
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
