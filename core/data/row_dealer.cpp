#include "core/data/row_dealer.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "core/base/check.h"
#include "core/base/random.h"
#include "core/base/shuffle.h"

namespace forebay {
namespace {

/// Memory for the largest column of a set.
std::size_t largest_column(const ColumnSet& columns) {
  std::size_t ids = columns.rows;
  for (const SparseColumn& column : columns.sparse) {
    if (column.values != nullptr) ids = std::max(ids, column.count(columns.rows));
  }
  return SlabCarver::aligned<std::int64_t>(ids) +
         SlabCarver::aligned<std::int32_t>(columns.rows + 1);
}

}  // namespace

RowDealer::RowDealer(const RowDeal& deal, std::size_t rows) : rows_(rows) {
  FOREBAY_CHECK(deal.runs > 0);
  const std::size_t rounds = std::max<std::size_t>(1, rows / deal.runs / RowDeal::kTogether);
  order_.resize(rounds * deal.runs);
  std::vector<std::uint32_t> drawn(deal.runs);
  std::iota(drawn.begin(), drawn.end(), 0U);
  Random random(deal.key);
  for (std::size_t round = 0; round < rounds; ++round) {
    shuffle(std::span(drawn), random);
    for (std::size_t run = 0; run < deal.runs; ++run) {
      order_[run * rounds + round] = static_cast<std::uint32_t>(round * deal.runs) + drawn[run];
    }
  }
  begins_.resize(deal.runs + 1);
  std::size_t chunk = 0;
  for_each_chunk([&](std::size_t, std::size_t place, std::size_t count) {
    begins_[chunk++ / rounds + 1] = place + count;
  });
}

void RowDealer::move_lists(const SparseColumn& from, const SparseColumn& to) const {
  to.offsets[0] = 0;
  for_each_chunk([&](std::size_t source, std::size_t place, std::size_t count) {
    const std::int32_t* const ends = from.offsets + source;
    const std::int32_t moved_by = to.offsets[place] - ends[0];
    for (std::size_t i = 1; i <= count; ++i) to.offsets[place + i] = ends[i] + moved_by;
    std::copy_n(from.values + ends[0], ends[count] - ends[0], to.values + to.offsets[place]);
  });
}

// Each column is dealt into the scratch memory and copied back.
void deal_rows(ColumnSet& columns, const RowDeal& deal, BufferPool& pool) {
  const RowDealer dealer(deal, columns.rows);
  const Buffer scratch = pool.take(largest_column(columns));
  const auto move = [&]<class T>(T* column) {
    if (column == nullptr) return;
    dealer.move(column, scratch.as<T>());
    std::copy_n(scratch.as<T>(), columns.rows, column);
  };
  move(columns.labels);
  move(columns.origins);
  move(columns.weights);
  for (float* column : columns.dense) move(column);
  for (std::int64_t* column : columns.extras) move(column);
  for (const RepeatedColumns& group : columns.repeated) move(group.rows);
  for (const SparseColumn& column : columns.sparse) {
    if (column.offsets == nullptr) {
      move(column.values);
      continue;
    }
    const std::size_t ids = column.count(columns.rows);
    SlabCarver carver(scratch.data());
    SparseColumn moved;
    moved.values = carver.take<std::int64_t>(ids);
    moved.offsets = carver.take<std::int32_t>(columns.rows + 1);
    dealer.move_lists(column, moved);
    std::copy_n(moved.values, ids, column.values);
    std::copy_n(moved.offsets, columns.rows + 1, column.offsets);
  }
}

}  // namespace forebay
