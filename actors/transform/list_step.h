#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "actors/transform/column_memory.h"
#include "actors/transform/op_table.h"

namespace forebay {

/// The lists of one row, one of each source.
using RowLists = std::span<const std::span<const std::int64_t>>;

/// Makes one sparse column out of several, row by row.
///
/// `Rule` has three functions. `count(lists)` returns a bound on the ids that a row produces.
/// `row(lists, scratch, to)` writes them and returns their end; `scratch` has space for twice all
/// ids of the row. `most_ids(rows, ids)` is a bound for that many rows that hold `ids` ids in all.
template <class Rule>
class ListStep final : public TransformPlan::Step {
 public:
  ListStep(std::vector<std::size_t> sources, std::size_t to, Rule rule)
      : sources_(std::move(sources)), to_(to), rule_(rule) {}

  Status run(StepRun& run) const override {
    const std::size_t rows = run.columns.rows;
    std::vector<SparseColumn> sources;
    for (const std::size_t source : sources_) sources.push_back(run.columns.sparse[source]);
    std::vector<std::span<const std::int64_t>> lists(sources.size());
    const auto visit = [&](std::size_t row) {
      for (std::size_t i = 0; i < sources.size(); ++i) lists[i] = ids_of(sources[i], row);
    };
    std::size_t total = 0;
    std::size_t longest = 0;
    for (std::size_t row = 0; row < rows; ++row) {
      visit(row);
      total += rule_.count(lists);
      std::size_t length = 0;
      for (const auto& list : lists) length += list.size();
      longest = std::max(longest, length);
    }
    if (total > std::numeric_limits<std::int32_t>::max()) {
      return fail(Code::kInvalid, "a split would get more than 2^31 ids; make the lists shorter");
    }
    const Buffer scratch = run.context.pool.take(scratch_bytes(longest));
    SparseColumn result = hold_sparse(run, total);
    std::int64_t* to = result.values;
    for (std::size_t row = 0; row < rows; ++row) {
      visit(row);
      to = rule_.row(lists, scratch.as<std::int64_t>(), to);
      result.offsets[row + 1] = static_cast<std::int32_t>(to - result.values);
    }
    put_sparse(run.columns, to_, result);
    return {};
  }

  void bound(SizeBound& size) const override {
    const std::size_t ids = size.ids(sources_);
    size.hold_sparse(to_, rule_.most_ids(size.rows(), ids));
    size.borrow(scratch_bytes(ids));
  }

 private:
  static std::size_t scratch_bytes(std::size_t ids) { return 2 * ids * sizeof(std::int64_t); }

  std::vector<std::size_t> sources_;
  std::size_t to_;
  Rule rule_;
};

/// Makes the step over `sources`; the result replaces the first source or goes to `output`.
template <class Rule>
std::unique_ptr<TransformPlan::Step> list_step(OpInput& input,
                                               const std::vector<std::size_t>& sources, Rule rule,
                                               std::int64_t bound = 0) {
  if (sources.empty()) return nullptr;
  const auto target = input.columns.sparse_to_sparse({sources.front()}).front();
  input.columns.schema().sparse[target.to].bound = bound;
  return std::make_unique<ListStep<Rule>>(sources, target.to, rule);
}

}  // namespace forebay
