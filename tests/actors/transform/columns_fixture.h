#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "actors/transform/transform.h"

namespace forebay::test {

using Lists = std::vector<std::vector<std::int64_t>>;

/// Splits made by hand: rows of dense values and lists, and the result of a plan on them.
class Columns {
 public:
  explicit Columns(std::size_t rows) {
    set_.rows = rows;
    set_.labels = hold<float>(rows);
    set_.origins = hold<RowOrigin>(rows);
    for (std::size_t i = 0; i < rows; ++i) {
      set_.labels[i] = static_cast<float>(i);
      set_.origins[i] = RowOrigin::of(0, 100 * i);
    }
  }

  Columns& dense(const std::string& name, const std::vector<float>& values) {
    schema_.dense.push_back(name);
    set_.dense.push_back(hold<float>(set_.rows));
    std::ranges::copy(values, set_.dense.back());
    return *this;
  }

  Columns& sparse(const std::string& name, const Lists& lists) {
    SparseColumn column = one_each(name, std::vector<std::int64_t>());
    std::size_t total = 0;
    for (const auto& list : lists) total += list.size();
    column.values = hold<std::int64_t>(total);
    column.offsets = hold<std::int32_t>(set_.rows + 1);
    column.offsets[0] = 0;
    for (std::size_t row = 0; row < lists.size(); ++row) {
      std::int64_t* to = column.values + column.offsets[row];
      for (const std::int64_t id : lists[row]) *to++ = id;
      column.offsets[row + 1] = static_cast<std::int32_t>(to - column.values);
    }
    set_.sparse.back() = column;
    return *this;
  }

  /// A column without offsets.
  Columns& ids(const std::string& name, const std::vector<std::int64_t>& values) {
    one_each(name, values);
    return *this;
  }

  const Schema& schema() const { return schema_; }
  ColumnSet& set() { return set_; }
  BufferPool& pool() { return *pool_; }
  MemoryBudget& budget() { return *budget_; }
  TransformContext context() { return {*pool_, 7, files_}; }

  /// Compiles and runs the plan; returns the first failure of either.
  Status apply(const std::vector<TransformSpec>& specs) {
    auto plan = TransformPlan::compile(specs, schema_);
    if (!plan) return pass(plan);
    auto status = plan->run(set_, context());
    schema_ = plan->output();
    return status;
  }

  std::vector<float> dense_values(std::size_t index) const {
    return {set_.dense.at(index), set_.dense.at(index) + set_.rows};
  }

  Lists lists(std::size_t index) const {
    const SparseColumn& column = set_.sparse.at(index);
    Lists lists;
    for (std::size_t row = 0; row < set_.rows; ++row) {
      const auto first =
          column.offsets == nullptr ? static_cast<std::int32_t>(row) : column.offsets[row];
      const auto last = column.offsets == nullptr ? first + 1 : column.offsets[row + 1];
      lists.emplace_back(column.values + first, column.values + last);
    }
    return lists;
  }

 private:
  template <class T>
  T* hold(std::size_t count) {
    set_.slabs.push_back(pool_->take(count * sizeof(T)));
    return set_.slabs.back().as<T>();
  }

  SparseColumn one_each(const std::string& name, const std::vector<std::int64_t>& values) {
    schema_.sparse.push_back({name, 0});
    SparseColumn column;
    column.values = hold<std::int64_t>(values.size());
    if (!values.empty()) {
      std::memcpy(column.values, values.data(), values.size() * sizeof(std::int64_t));
    }
    set_.sparse.push_back(column);
    return column;
  }

  std::unique_ptr<MemoryBudget> budget_ = std::make_unique<MemoryBudget>(std::size_t{1} << 32);
  std::unique_ptr<BufferPool> pool_ = std::make_unique<BufferPool>(*budget_);
  std::vector<std::string> files_{"clicks.tsv"};
  Schema schema_;
  ColumnSet set_;
};

}  // namespace forebay::test
