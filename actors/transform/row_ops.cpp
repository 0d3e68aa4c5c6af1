#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "actors/transform/op_table.h"
#include "core/base/clock.h"
#include "core/base/random.h"

namespace forebay {
namespace {

using Kept = std::span<const std::uint32_t>;

template <class T>
void keep(T* values, Kept kept) {
  for (std::size_t i = 0; i < kept.size(); ++i) values[i] = values[kept[i]];
}

void keep_lists(const SparseColumn& column, Kept kept) {
  if (column.offsets == nullptr) return keep(column.values, kept);
  // Row i of the result ends at or before the offset it is read from, so offsets[i + 1] is still
  // unread.
  std::int32_t to = 0;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const std::int32_t first = column.offsets[kept[i]];
    const std::int32_t last = column.offsets[kept[i] + 1];
    for (std::int32_t id = first; id < last; ++id) column.values[to++] = column.values[id];
    column.offsets[i] = to;
  }
  // The loop above wrote each row's end at i; it belongs at i + 1.
  for (std::size_t i = kept.size(); i > 0; --i) column.offsets[i] = column.offsets[i - 1];
  column.offsets[0] = 0;
}

/// Keeps each row with a fixed probability, by a hash of the row's file and offset: the same rows
/// in every epoch and under any order.
class SamplingStep final : public TransformPlan::Step {
 public:
  SamplingStep(double rate, std::uint64_t salt) : rate_(rate), salt_(salt) {}

  StepFacts facts() const override { return {.leaves_out_rows = true, .cost = 5}; }

  Status run(StepRun& run) const override {
    ColumnSet& columns = run.columns;
    if (columns.origins == nullptr) return fail(Code::kInvalid, "needs to know the rows' origin");
    const Buffer memory = run.context.pool.take(columns.rows * sizeof(std::uint32_t));
    auto* kept = memory.as<std::uint32_t>();
    std::size_t count = 0;
    const std::uint64_t key = mix64(run.context.seed, salt_);
    for (std::size_t row = 0; row < columns.rows; ++row) {
      kept[count] = static_cast<std::uint32_t>(row);
      Random random(mix64(key, columns.origins[row].packed));
      count += random.uniform() < rate_ ? 1 : 0;
    }
    keep_rows(columns, {kept, count});
    return {};
  }

  void bound(SizeBound& size) const override { size.borrow(size.rows() * sizeof(std::uint32_t)); }

  bool needs_origins() const override { return true; }
  bool samples() const override { return true; }

 private:
  static void keep_rows(ColumnSet& columns, Kept kept) {
    if (columns.labels != nullptr) keep(columns.labels, kept);
    keep(columns.origins, kept);
    if (columns.weights != nullptr) keep(columns.weights, kept);
    for (std::int64_t* values : columns.extras) keep(values, kept);
    for (const RepeatedColumns& group : columns.repeated) keep(group.rows, kept);
    for (float* values : columns.dense) {
      if (values != nullptr) keep(values, kept);
    }
    for (const SparseColumn& column : columns.sparse) {
      if (column.values != nullptr) keep_lists(column, kept);
    }
    columns.rows = kept.size();
  }

  double rate_;
  std::uint64_t salt_;
};

Steps make_sampling(OpInput& input) {
  const double rate = input.params.number("rate", {0, 1});
  const auto salt = static_cast<std::uint64_t>(input.params.integer_or("salt", 0));
  Steps steps;
  steps.push_back(std::make_unique<SamplingStep>(rate, salt));
  return steps;
}

/// Burns CPU time and changes nothing, to build pipelines of a chosen cost.
class SpinStep final : public TransformPlan::Step {
 public:
  explicit SpinStep(double microseconds) : microseconds_(microseconds) {}

  StepFacts facts() const override { return {.cost = 1e3 * microseconds_}; }

  bool set_cost(double microseconds) override {
    microseconds_ = microseconds;
    return true;
  }

  Status run(StepRun& run) const override {
    const double seconds = 1e-6 * microseconds_ * static_cast<double>(run.columns.rows);
    const double start = in_seconds(thread_cpu_time());
    while (in_seconds(thread_cpu_time()) - start < seconds) {
      if (run.is_cancelled()) return run.cancelled();
    }
    return {};
  }

 private:
  std::atomic<double> microseconds_;
};

Steps make_spin(OpInput& input) {
  Steps steps;
  steps.push_back(std::make_unique<SpinStep>(input.params.number("microseconds", {0, 1e6})));
  return steps;
}

}  // namespace

std::vector<OpEntry> row_ops() {
  return {
      {{"sampling", "rows", "rows", "rate (0 to 1), salt = 0",
        "keeps each row with this probability, by a hash of (order.seed, salt, where the row "
        "came from): the same rows in every epoch",
        "does not matter"},
       {"rate", "salt"},
       make_sampling},
      {{"spin", "rows", "rows", "microseconds (of CPU time a row)",
        "changes nothing and takes the given time", "does not matter"},
       {"microseconds"},
       make_spin},
  };
}

}  // namespace forebay
