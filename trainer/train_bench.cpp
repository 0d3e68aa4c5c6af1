#include "trainer/train_bench.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>

#include "core/base/clock.h"
#include "core/base/median.h"

namespace forebay {
namespace {

using Batches = std::vector<std::shared_ptr<const Batch>>;
using Next = std::function<Result<std::shared_ptr<const Batch>>(std::uint64_t step)>;

struct Turn {
  double rate = 0;  ///< Rows a second.
  LookupCounts lookups;
};

/// Takes `settle` steps that do not count and `steps` that do; `next` returns the batch of a step.
Result<Turn> take_turn(Model& model, const Clock& clock, std::uint64_t settle, std::uint64_t steps,
                       const Next& next) {
  std::uint64_t rows = 0;
  std::chrono::nanoseconds began = clock.now();
  LookupCounts before = model.lookups();
  for (std::uint64_t step = 0; step < settle + steps; ++step) {
    if (step == settle) {
      began = clock.now();
      before = model.lookups();
    }
    auto batch = next(step);
    if (!batch) return pass(batch);
    if (*batch == nullptr) {
      return fail(Code::kInvalid,
                  "the dataset has too few batches to measure training; raise "
                  "order.epochs or lower order.batch_size");
    }
    if (auto trained = model.step(**batch); !trained) return pass(trained);
    if (step >= settle) rows += (*batch)->rows;
  }
  const double seconds = in_seconds(clock.now() - began);
  const LookupCounts after = model.lookups();
  return Turn{seconds > 0 ? static_cast<double>(rows) / seconds : 0,
              {.all = after.all - before.all, .ready = after.ready - before.ready}};
}

/// The batches of one kind of turn, announced to the model `ahead` steps before it steps on them.
class ComingBatches {
 public:
  ComingBatches(Model& model, Next source, std::size_t ahead)
      : model_(model), source_(std::move(source)), ahead_(ahead) {}

  /// Cancels what the other kind of turn announced, and announces the batches that wait here.
  void begin_turn() {
    if (ahead_ == 0) return;
    model_.prefetch(nullptr);
    for (const auto& batch : waiting_) model_.prefetch(batch);
  }

  Result<std::shared_ptr<const Batch>> next(std::uint64_t step) {
    while (waiting_.size() <= ahead_) {
      auto batch = source_(step);
      if (!batch) return batch;
      if (*batch == nullptr) break;
      if (ahead_ > 0) model_.prefetch(*batch);
      waiting_.push_back(std::move(*batch));
    }
    if (waiting_.empty()) return nullptr;
    auto first = std::move(waiting_.front());
    waiting_.pop_front();
    return first;
  }

 private:
  Model& model_;
  const Next source_;
  const std::size_t ahead_;
  std::deque<std::shared_ptr<const Batch>> waiting_;
};

/// A batch that owns the memory it points to.
struct OwnedBatch {
  std::vector<float> labels, dense;
  std::vector<std::int32_t> lengths;
  std::vector<std::int64_t> ids;
  Batch batch;
};

}  // namespace

Result<TrainBench> bench_training(Model& model, BatchSource& source, const Clock& clock,
                                  const TrainBenchPlan& plan) {
  std::shared_ptr<const Batch> kept;
  const auto from_source = [&](std::uint64_t) {
    auto batch = source.next();
    if (batch && kept == nullptr) kept = *batch;
    return batch;
  };
  const auto kept_batch = [&](std::uint64_t) { return kept; };
  ComingBatches fed_batches(model, from_source, plan.ahead);
  ComingBatches cached_batches(model, kept_batch, plan.ahead);
  const auto turn_with = [&](ComingBatches& batches) {
    batches.begin_turn();
    return take_turn(model, clock, plan.settle, plan.steps,
                     [&](std::uint64_t step) { return batches.next(step); });
  };
  std::vector<TrainBench> turns;
  for (std::uint64_t turn = 0; turn < plan.turns; ++turn) {
    auto fed = turn_with(fed_batches);
    if (!fed) return pass(fed);
    auto cached = turn_with(cached_batches);
    if (!cached) return pass(cached);
    turns.push_back({.fed = fed->rate, .cached = cached->rate});
  }
  const auto middle = turns.begin() + static_cast<std::ptrdiff_t>(turns.size() / 2);
  std::ranges::nth_element(turns, middle, {}, &TrainBench::ratio);
  return *middle;
}

ZipfBatches::ZipfBatches(const Options& options) : options_(options) {
  double sum = 0;
  below_.reserve(static_cast<std::size_t>(options.table_rows));
  for (std::int64_t rank = 1; rank <= options.table_rows; ++rank) {
    sum += std::pow(static_cast<double>(rank), -options.exponent);
    below_.push_back(sum);
  }
  for (double& below : below_) below /= sum;
}

std::shared_ptr<const Batch> ZipfBatches::make(std::uint64_t number) const {
  auto made = std::make_shared<OwnedBatch>();
  Random random(mix64(options_.seed, number));
  const auto mask = static_cast<std::uint64_t>(options_.table_rows) - 1;
  made->ids.reserve(options_.features * options_.rows);
  for (std::size_t feature = 0; feature < options_.features; ++feature) {
    for (std::size_t i = 0; i < options_.rows; ++i) {
      const auto found = std::ranges::upper_bound(below_, random.uniform()) - below_.begin();
      const auto rank = std::min(static_cast<std::uint64_t>(found), mask);
      const std::uint64_t row = (rank * 0x9e3779b97f4a7c15ULL + feature) & mask;
      made->ids.push_back(static_cast<std::int64_t>(row));
    }
  }
  made->lengths.assign(options_.features * options_.rows, 1);
  for (std::size_t i = 0; i < options_.rows; ++i) {
    made->labels.push_back(random.below(4) == 0 ? 1.0f : 0.0f);
  }
  for (std::size_t i = 0; i < options_.rows * options_.dense; ++i) {
    made->dense.push_back(static_cast<float>(random.uniform()));
  }
  made->batch.number = number;
  made->batch.rows = options_.rows;
  made->batch.dense_features = options_.dense;
  made->batch.sparse_features = options_.features;
  made->batch.num_ids = made->ids.size();
  made->batch.labels = made->labels.data();
  made->batch.dense = made->dense.data();
  made->batch.lengths = made->lengths.data();
  made->batch.ids = made->ids.data();
  return {made, &made->batch};
}

Result<TableBench> bench_tables(Model& memory, Model& tiers, const Clock& clock,
                                const TableBenchPlan& plan, const TableBenchReport& report) {
  const ZipfBatches made(plan.batches);
  std::uint64_t number = 0;
  const auto next = [&](std::uint64_t count) {
    Batches batches;
    for (std::uint64_t i = 0; i < count; ++i) batches.push_back(made.make(number++));
    return batches;
  };
  // No batch is announced before the first step of a turn, unlike in a run.
  const auto turn_of = [&](Model& model, const Batches& batches, std::uint64_t uncounted) {
    const auto in_order = [&, at = std::size_t{0}](std::uint64_t) mutable {
      return at < batches.size() ? batches[at++] : nullptr;
    };
    ComingBatches coming(model, in_order, plan.ahead);
    return take_turn(model, clock, uncounted, batches.size() - uncounted,
                     [&](std::uint64_t step) { return coming.next(step); });
  };
  constexpr std::uint64_t kAtOnce = 10;
  for (std::uint64_t settled = 0; settled < plan.settle; settled += kAtOnce) {
    const Batches batches = next(std::min(kAtOnce, plan.settle - settled));
    auto turn = turn_of(tiers, batches, 0);
    if (!turn) return pass(turn);
    report("settling, " + std::to_string(settled + batches.size()) + " steps", turn->rate, 0);
  }
  std::vector<double> in_memory, in_tiers, ratios;
  LookupCounts lookups;
  for (std::uint64_t turn = 0; turn < plan.turns; ++turn) {
    const Batches batches = next(plan.uncounted + plan.steps);
    auto slow = turn_of(tiers, batches, plan.uncounted);
    if (!slow) return pass(slow);
    lookups.all += slow->lookups.all;
    lookups.ready += slow->lookups.ready;
    auto fast = turn_of(memory, batches, plan.uncounted);
    if (!fast) return pass(fast);
    in_tiers.push_back(slow->rate);
    in_memory.push_back(fast->rate);
    ratios.push_back(slow->rate / fast->rate);
    report("turn " + std::to_string(turn + 1), slow->rate, fast->rate);
  }
  return TableBench{.memory = median(in_memory),
                    .tiers = median(in_tiers),
                    .ratio = median(ratios),
                    .ready = static_cast<double>(lookups.ready) /
                             static_cast<double>(std::max<std::uint64_t>(lookups.all, 1))};
}

}  // namespace forebay
