#include "actors/transform/udf_call.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <utility>

namespace forebay {
namespace {

/// One call of a user's function.
class UdfCall {
 public:
  UdfCall(const Udf& udf, StepRun& run, const UdfInput& input)
      : udf_(udf), run_(run), input_(input) {
    outcome_.replaced.resize(input.sparse.size());
  }

  UdfOutcome make() {
    std::vector<forebay_udf_dense> dense;
    for (std::size_t i = 0; i < input_.dense.size(); ++i) {
      dense.push_back({udf_.columns.dense_names[i].c_str(), input_.dense[i]});
    }
    std::vector<forebay_udf_sparse> sparse;
    for (std::size_t i = 0; i < input_.sparse.size(); ++i) {
      sparse.push_back({udf_.columns.sparse_names[i].c_str(), input_.sparse[i].values,
                        input_.sparse[i].offsets});
    }
    std::array<char, 512> error{};
    const std::size_t rows = run_.columns.rows;
    forebay_udf_call call{FOREBAY_UDF_VERSION,
                          rows,
                          udf_.params.c_str(),
                          dense.size(),
                          dense.data(),
                          sparse.size(),
                          sparse.data(),
                          replace,
                          this,
                          -1,
                          error.data(),
                          error.size()};
    if (!udf_.function(call)) {
      error.back() = '\0';
      refuse(error.front() == '\0' ? "it failed without saying why" : error.data());
      if (call.error_row >= 0 && static_cast<std::size_t>(call.error_row) < rows) {
        outcome_.row = static_cast<std::size_t>(call.error_row);
      }
    } else {
      check_lists();
    }
    return std::move(outcome_);
  }

 private:
  static forebay_udf_lists replace(forebay_udf_call* call, std::size_t column,
                                   std::size_t num_ids) {
    auto& self = *static_cast<UdfCall*>(call->host);
    const std::string refused = self.refusal(column, num_ids);
    if (!refused.empty()) {
      std::snprintf(call->error, call->error_size, "%s", refused.c_str());
      return {nullptr, nullptr};
    }
    SparseColumn lists = hold_sparse(self.run_, num_ids);
    std::fill_n(lists.offsets, self.run_.columns.rows + 1, kUnwritten);
    self.outcome_.replaced[column] = lists;
    self.num_ids_.resize(self.input_.sparse.size());
    self.num_ids_[column] = num_ids;
    return {lists.values, lists.offsets};
  }

  /// Returns why new lists cannot be allocated; empty if they can.
  std::string refusal(std::size_t column, std::size_t num_ids) const {
    if (column >= input_.sparse.size()) {
      return "there is no sparse column " + std::to_string(column);
    }
    if (outcome_.replaced[column]) return "a column's lists can be replaced once only";
    const std::size_t rows = run_.columns.rows;
    constexpr std::size_t kOffsets = std::numeric_limits<std::int32_t>::max();
    const std::size_t most =
        std::min(input_.sparse[column].count(rows) + rows * udf_.max_ids, kOffsets);
    if (num_ids <= most) return {};
    return std::to_string(num_ids) + " ids for " + std::to_string(rows) + " rows, " +
           std::to_string(most) + " fit; raise max_ids";
  }

  /// Checks that every list ends where the next begins, and the last one at the end of the ids.
  void check_lists() {
    const std::size_t rows = run_.columns.rows;
    for (std::size_t column = 0; column < outcome_.replaced.size(); ++column) {
      if (!outcome_.replaced[column]) continue;
      const std::int32_t* const offsets = outcome_.replaced[column]->offsets;
      const auto num_ids = static_cast<std::int32_t>(num_ids_[column]);
      for (std::size_t row = 0; row < rows; ++row) {
        const bool last = row + 1 == rows;
        const bool good = (row > 0 || offsets[0] == 0) && offsets[row + 1] >= offsets[row] &&
                          offsets[row + 1] <= num_ids && (!last || offsets[rows] == num_ids);
        if (good) continue;
        refuse("wrong lengths: the list runs from " + std::to_string(offsets[row]) + " to " +
               std::to_string(offsets[row + 1]) + " of " + std::to_string(num_ids) + " ids");
        outcome_.row = row;
        return;
      }
    }
  }

  void refuse(const std::string& error) {
    outcome_.failed = true;
    outcome_.error = error;
  }

  static constexpr std::int32_t kUnwritten = -1;

  const Udf& udf_;
  StepRun& run_;
  const UdfInput& input_;
  std::vector<std::size_t> num_ids_;
  UdfOutcome outcome_;
};

}  // namespace

UdfOutcome call_udf(const Udf& udf, StepRun& run, const UdfInput& input) {
  return UdfCall(udf, run, input).make();
}

}  // namespace forebay
