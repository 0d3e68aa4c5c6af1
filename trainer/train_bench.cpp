#include "trainer/train_bench.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "core/base/clock.h"

namespace forebay {
namespace {

/// Runs one turn and returns its rows per second; `next` returns the batch of each step.
template <class Next>
Result<double> take_turn(Model& model, const Clock& clock, const TrainBenchPlan& plan,
                         const Next& next) {
  std::uint64_t rows = 0;
  std::chrono::nanoseconds began = clock.now();
  for (std::uint64_t step = 0; step < plan.settle + plan.steps; ++step) {
    if (step == plan.settle) began = clock.now();
    Result<std::shared_ptr<const Batch>> batch = next();
    if (!batch) return pass(batch);
    if (*batch == nullptr) {
      return fail(Code::kInvalid,
                  "the dataset has too few batches to measure training; raise "
                  "order.epochs or lower order.batch_size");
    }
    if (auto trained = model.step(**batch); !trained) return pass(trained);
    if (step >= plan.settle) rows += (*batch)->rows;
  }
  const double seconds = in_seconds(clock.now() - began);
  return seconds > 0 ? static_cast<double>(rows) / seconds : 0;
}

}  // namespace

Result<TrainBench> bench_training(Model& model, BatchSource& source, const Clock& clock,
                                  const TrainBenchPlan& plan) {
  std::shared_ptr<const Batch> kept;
  const auto from_source = [&] {
    auto batch = source.next();
    if (batch && kept == nullptr) kept = *batch;
    return batch;
  };
  const auto again = [&]() -> Result<std::shared_ptr<const Batch>> { return kept; };
  std::vector<TrainBench> turns;
  for (std::uint64_t turn = 0; turn < plan.turns; ++turn) {
    auto fed = take_turn(model, clock, plan, from_source);
    if (!fed) return pass(fed);
    auto cached = take_turn(model, clock, plan, again);
    if (!cached) return pass(cached);
    turns.push_back({.fed = *fed, .cached = *cached});
  }
  const auto middle = turns.begin() + static_cast<std::ptrdiff_t>(turns.size() / 2);
  std::ranges::nth_element(turns, middle, {}, &TrainBench::ratio);
  return *middle;
}

}  // namespace forebay
