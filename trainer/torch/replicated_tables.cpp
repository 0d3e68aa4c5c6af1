#include "trainer/torch/replicated_tables.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "trainer/torch/parallel.h"

namespace forebay {

ReplicatedTables::ReplicatedTables(Collective& ranks, std::unique_ptr<EmbeddingTables> tables,
                                   std::vector<std::int64_t> table_rows, std::size_t width)
    : ranks_(ranks), tables_(std::move(tables)), table_rows_(std::move(table_rows)), width_(width) {
  first_sum_.push_back(0);
  for (const std::int64_t rows : table_rows_) {
    first_sum_.push_back(first_sum_.back() + static_cast<std::size_t>(rows) * width_);
  }
  sums_.resize(first_sum_.back());
}

Status ReplicatedTables::begin(const Batch& mine, EmbeddingTables::Use use, int threads) {
  mine_ = &mine;
  auto rows = tables_->begin(mine, use);
  if (!rows) return pass(rows);
  rows_ = *rows;
  if (pooled_.size() < tables() * batch_floats()) pooled_.resize(tables() * batch_floats());
  for_each_task(threads, static_cast<int>(tables()),
                [&](int table, int) { pool(static_cast<std::size_t>(table)); });
  return {};
}

void ReplicatedTables::end() {
  if (std::exchange(rows_, nullptr) != nullptr) tables_->end();
}

void ReplicatedTables::pool(std::size_t table) {
  const std::span lengths(mine_->lengths + table * mine_->rows, mine_->rows);
  tables_->pool(table, *rows_, rows_->first_id[table], lengths,
                pooled_.data() + table * batch_floats(), width_);
}

void ReplicatedTables::start_sums(std::span<const float* const> gradients, int threads) {
  for_each_task(threads, static_cast<int>(tables()), [&](int table, int) {
    const auto at = static_cast<std::size_t>(table);
    add_up(at, gradients[at]);
  });
  pending_ = ranks_.start_all_reduce(sums_);
}

void ReplicatedTables::add_up(std::size_t table, const float* gradients) {
  const std::span<float> sums = this->sums(table);
  std::ranges::fill(sums, 0.0f);
  tables_->add_up(table, *mine_, *rows_, gradients);
  const std::span<const std::int32_t> slots = rows_->slots_of(table);
  const float* from = tables_->sums(table).data();
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const std::size_t to = static_cast<std::size_t>(slots[i]) * width_;
    std::memcpy(sums.data() + to, from + i * width_, width_ * sizeof(float));
  }
}

Status ReplicatedTables::wait_sums() { return std::exchange(pending_, nullptr)->wait(); }

std::span<float> ReplicatedTables::sums(std::size_t table) {
  return std::span(sums_).subspan(first_sum_[table], first_sum_[table + 1] - first_sum_[table]);
}

// A row without a gradient stays unchanged, with every optimizer: it is skipped.
void ReplicatedTables::apply(std::size_t table, float learning_rate) {
  const std::span<float> all = sums(table);
  std::vector<std::int32_t> slots;
  slots.reserve(all.size() / width_);
  for (std::size_t row = 0; row * width_ < all.size(); ++row) {
    const std::span<const float> sum = all.subspan(row * width_, width_);
    if (std::ranges::all_of(sum, [](float value) { return value == 0; })) continue;
    // Moves the sum to the front, over rows that were processed already.
    std::ranges::copy(sum, all.data() + slots.size() * width_);
    slots.push_back(static_cast<std::int32_t>(row));
  }
  tables_->apply(table, slots, all.data(), learning_rate);
}

}  // namespace forebay
