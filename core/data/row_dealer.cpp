#include "core/data/row_dealer.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "core/base/check.h"
#include "core/base/random.h"
#include "core/base/shuffle.h"

namespace forebay {
namespace {

std::vector<std::uint32_t> numbered(std::size_t count) {
  std::vector<std::uint32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0U);
  return numbers;
}

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

RowDealer::RowDealer(const RowDeal& deal, std::size_t rows, BufferPool& pool)
    : runs_(deal.runs),
      rows_(rows),
      full_tiles_(rows / deal.runs / kTile),
      memory_(pool.take(rows * sizeof(std::uint32_t))),
      sources_(memory_.as<std::uint32_t>(), rows) {
  FOREBAY_CHECK(deal.runs > 0);
  Random random(deal.key);
  const std::size_t rounds = rows / runs_;
  std::vector<std::uint32_t> drawn = numbered(runs_);
  for (std::size_t round = 0; round < rounds; ++round) {
    shuffle(std::span(drawn), random);
    const std::size_t tile = round / kTile;
    for (std::size_t run = 0; run < runs_; ++run) {
      sources_[sources_of(tile, run) + round % kTile] =
          static_cast<std::uint32_t>(round * runs_) + drawn[run];
    }
  }
  // The rows that are no whole round go to the runs that are one row longer.
  drawn = numbered(rows - rounds * runs_);
  shuffle(std::span(drawn), random);
  std::size_t next = 0;
  for (std::size_t run = 0; run < runs_; ++run) {
    if (begin_of(run + 1) - begin_of(run) == rounds) continue;
    sources_[sources_of(full_tiles_, run) + rounds - full_tiles_ * kTile] =
        static_cast<std::uint32_t>(rounds * runs_) + drawn[next++];
  }
}

void RowDealer::move_lists(const SparseColumn& from, const SparseColumn& to) const {
  std::int32_t longest = 0;
  to.offsets[0] = 0;
  for_each_run([&](std::size_t place, const std::uint32_t* sources, auto count) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::int32_t length = from.offsets[sources[i] + 1] - from.offsets[sources[i]];
      to.offsets[place + i + 1] = length;
      longest = std::max(longest, length);
    }
  });
  std::inclusive_scan(to.offsets, to.offsets + rows_ + 1, to.offsets);
  if (longest <= 1) {
    // Without a branch: the id that an empty list does not have is written behind the last one,
    // where a column has padding.
    const std::int32_t behind = to.offsets[rows_];
    return for_each_run([&](std::size_t place, const std::uint32_t* sources, auto count) {
      for (std::size_t i = 0; i < count; ++i) {
        const std::int32_t at = to.offsets[place + i];
        const bool is_empty = at == to.offsets[place + i + 1];
        to.values[is_empty ? behind : at] = from.values[from.offsets[sources[i]]];
      }
    });
  }
  for_each_run([&](std::size_t place, const std::uint32_t* sources, auto count) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto length =
          static_cast<std::size_t>(to.offsets[place + i + 1] - to.offsets[place + i]);
      std::memcpy(to.values + to.offsets[place + i], from.values + from.offsets[sources[i]],
                  length * sizeof(std::int64_t));
    }
  });
}

// Each column is dealt into the scratch memory and copied back.
void deal_rows(ColumnSet& columns, const RowDeal& deal, BufferPool& pool) {
  const RowDealer dealer(deal, columns.rows, pool);
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
