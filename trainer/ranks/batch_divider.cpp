#include "trainer/ranks/batch_divider.h"

#include <algorithm>
#include <string>
#include <utility>

#include "trainer/spec.h"

namespace forebay {

BatchDivider::BatchDivider(std::vector<std::int64_t> table_rows, TablePlacement placement)
    : table_rows_(std::move(table_rows)), placement_(std::move(placement)) {
  const bool cuts = std::ranges::any_of(placement_.shards, [&](const TableShard& shard) {
    return shard.rows != table_rows_[shard.feature];
  });
  all_whole_ = !cuts && placement_.shards.size() == table_rows_.size();
}

void BatchDivider::Division::clear() {
  lengths.clear();
  ids.clear();
}

void BatchDivider::Division::point(const Batch& mine, std::size_t features) {
  batch.number = mine.number;
  batch.rows = mine.rows;
  batch.sparse_features = features;
  batch.num_ids = ids.size();
  batch.lengths = lengths.data();
  batch.ids = ids.data();
}

Status BatchDivider::measure(const Batch& mine) {
  const auto refuse = [&](const char* what) {
    return fail(Code::kInvalid, "batch " + std::to_string(mine.number) + " has " + what);
  };
  if (mine.sparse_features != table_rows_.size()) return refuse("other sparse features");
  first_id_.assign(1, 0);
  for (std::size_t feature = 0; feature < mine.sparse_features; ++feature) {
    std::size_t ids = first_id_.back();
    for (std::size_t row = 0; row < mine.rows; ++row) {
      const std::int32_t length = mine.lengths[feature * mine.rows + row];
      if (length < 0) return refuse("a list of negative length");
      ids += static_cast<std::size_t>(length);
    }
    first_id_.push_back(ids);
  }
  return first_id_.back() == mine.num_ids ? Status() : refuse("other ids than its lists are long");
}

Status BatchDivider::divide(const Batch& mine, What what) {
  if (auto measured = measure(mine); !measured) return measured;
  sharded_ = all_whole_ ? &mine : &shards_.batch;
  shards_.clear();
  replicas_.clear();
  for (const TableShard& shard : placement_.shards) {
    if (all_whole_ || what == What::kReplicas) break;
    if (shard.rows == table_rows_[shard.feature]) {
      take_whole(mine, shard.feature, shards_);
    } else {
      take_shard(mine, shard);
    }
  }
  for (const std::size_t feature : placement_.replicated) take_whole(mine, feature, replicas_);
  shards_.point(mine, placement_.shards.size());
  replicas_.point(mine, placement_.replicated.size());
  return {};
}

void BatchDivider::take_whole(const Batch& mine, std::size_t feature, Division& to) const {
  const std::int32_t* lengths = mine.lengths + feature * mine.rows;
  to.lengths.insert(to.lengths.end(), lengths, lengths + mine.rows);
  to.ids.insert(to.ids.end(), mine.ids + first_id_[feature], mine.ids + first_id_[feature + 1]);
}

void BatchDivider::take_shard(const Batch& mine, const TableShard& shard) {
  const std::int64_t rows = table_rows_[shard.feature];
  const std::int64_t* id = mine.ids + first_id_[shard.feature];
  for (std::size_t row = 0; row < mine.rows; ++row) {
    const std::size_t before = shards_.ids.size();
    for (std::int32_t left = mine.lengths[shard.feature * mine.rows + row]; left > 0; --left) {
      const std::int64_t key = fold(*id++, rows) - shard.first;
      if (key >= 0 && key < shard.rows) shards_.ids.push_back(key);
    }
    shards_.lengths.push_back(static_cast<std::int32_t>(shards_.ids.size() - before));
  }
}

}  // namespace forebay
