#include "trainer/train_bench.h"

#include <memory>

namespace forebay {
namespace {

/// Rows and time of one way of feeding, over all its turns.
struct Tally {
  std::uint64_t rows = 0;
  std::chrono::nanoseconds time{};

  double rows_per_second() const {
    const double seconds = std::chrono::duration<double>(time).count();
    return seconds > 0 ? static_cast<double>(rows) / seconds : 0;
  }
};

/// One turn; `next` gives the batch of each step.
template <class Next>
Status take_turn(Model& model, const Clock& clock, const TrainBenchPlan& plan, const Next& next,
                 Tally& tally) {
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
    if (step >= plan.settle) tally.rows += (*batch)->rows;
  }
  tally.time += clock.now() - began;
  return {};
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
  Tally fed, cached;
  for (std::uint64_t turn = 0; turn < plan.turns; ++turn) {
    auto done = take_turn(model, clock, plan, from_source, fed);
    if (done) done = take_turn(model, clock, plan, again, cached);
    if (!done) return pass(done);
  }
  return TrainBench{.fed = fed.rows_per_second(), .cached = cached.rows_per_second()};
}

}  // namespace forebay
