#include "trainer/ranks/placement.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>

namespace forebay {
namespace {

using How = TrainerSpec::Placement;

constexpr std::int64_t kSmallTable = 1024;

/// Chooses the placement of each table.
std::vector<How> choose(std::span<const std::int64_t> table_rows, How how, int ranks) {
  std::vector<How> chosen(table_rows.size(), how);
  std::int64_t rest = 0;
  for (const std::int64_t rows : table_rows) rest += rows > kSmallTable ? rows : 0;
  for (std::size_t feature = 0; feature < chosen.size(); ++feature) {
    const std::int64_t rows = table_rows[feature];
    if (how == How::kAuto) {
      const bool uneven = rows > rest / ranks;
      chosen[feature] = rows <= kSmallTable ? How::kReplicated : uneven ? How::kRow : How::kTable;
    }
    if (chosen[feature] == How::kRow && rows < ranks) chosen[feature] = How::kTable;
  }
  return chosen;
}

/// The features, largest table first.
std::vector<std::size_t> largest_first(std::span<const std::int64_t> table_rows) {
  std::vector<std::size_t> features(table_rows.size());
  std::iota(features.begin(), features.end(), std::size_t{0});
  std::ranges::stable_sort(features, std::ranges::greater(),
                           [&](std::size_t feature) { return table_rows[feature]; });
  return features;
}

void append(ModelShape& part, const TableShard& shard, std::int64_t whole) {
  part.table_rows.push_back(shard.rows);
  part.table_features.push_back(shard.feature);
  part.table_first.push_back(shard.first);
  part.table_whole.push_back(whole);
}

}  // namespace

std::pair<std::size_t, std::size_t> rows_of_rank(std::size_t rows, int rank, int ranks) {
  const auto part = static_cast<std::size_t>(rank);
  const auto parts = static_cast<std::size_t>(ranks);
  return {rows * part / parts, rows * (part + 1) / parts};
}

TablePlacement shards_of_rank(const TablePlacement& placement, int rank) {
  TablePlacement own;
  std::ranges::copy_if(placement.shards, std::back_inserter(own.shards),
                       [&](const TableShard& shard) { return shard.owner == rank; });
  return own;
}

std::vector<int> TablePlacement::owners() const {
  std::vector<int> owners;
  owners.reserve(shards.size());
  for (const TableShard& shard : shards) owners.push_back(shard.owner);
  return owners;
}

TablePlacement place_tables(std::span<const std::int64_t> table_rows, How how, int ranks) {
  const std::vector<How> chosen = choose(table_rows, how, ranks);
  TablePlacement placement;
  // The rank with the fewest shards takes the next; among equals, the one with the fewest rows.
  std::vector<std::pair<std::size_t, std::int64_t>> held(static_cast<std::size_t>(ranks));
  for (const std::size_t feature : largest_first(table_rows)) {
    const std::int64_t rows = table_rows[feature];
    if (chosen[feature] == How::kReplicated) {
      placement.replicated.push_back(feature);
      continue;
    }
    if (chosen[feature] == How::kRow) {
      for (int rank = 0; rank < ranks; ++rank) {
        const std::int64_t first = rows * rank / ranks;
        placement.shards.push_back({feature, first, rows * (rank + 1) / ranks - first, rank});
      }
      continue;
    }
    const auto least = std::ranges::min_element(held);
    least->first += 1;
    least->second += rows;
    placement.shards.push_back({feature, 0, rows, static_cast<int>(least - held.begin())});
  }
  std::ranges::stable_sort(placement.shards, {}, &TableShard::feature);
  std::ranges::sort(placement.replicated);
  return placement;
}

TablePlacement place_tables(const TrainerSpec& spec, const ModelShape& shape, int ranks) {
  const bool whole = spec.tables.storage == TrainerSpec::Storage::kHashed;
  return place_tables(shape.table_rows, whole ? How::kTable : spec.tables.placement, ranks);
}

ModelShape shards_of(const ModelShape& shape, const TablePlacement& placement, int rank) {
  ModelShape part = shape;
  part.table_rows.clear();
  for (const TableShard& shard : placement.shards) {
    if (shard.owner == rank) append(part, shard, shape.table_rows[shard.feature]);
  }
  return part;
}

ModelShape replicas_of(const ModelShape& shape, const TablePlacement& placement) {
  ModelShape part = shape;
  part.table_rows.clear();
  for (const std::size_t feature : placement.replicated) {
    const std::int64_t rows = shape.table_rows[feature];
    append(part, {.feature = feature, .first = 0, .rows = rows, .owner = 0}, rows);
  }
  return part;
}

TrainerSpec spec_of_shards(const TrainerSpec& spec, const ModelShape& shape,
                           const TablePlacement& placement, int rank) {
  using Storage = TrainerSpec::Storage;
  TrainerSpec own = spec;
  if (spec.tables.storage != Storage::kTiered) return own;
  own.tables.folder = tables_folder(spec, rank);
  own.tables.snapshot = TrainerSpec::Tables::Snapshot::kWhole;
  if (shards_of(shape, placement, rank).table_rows.empty()) own.tables.storage = Storage::kMemory;
  const std::uint64_t replicas = table_bytes(spec_of_replicas(spec), replicas_of(shape, placement));
  own.tables.memory_bytes -= std::min(own.tables.memory_bytes, replicas);
  return own;
}

TrainerSpec spec_of_replicas(const TrainerSpec& spec) {
  TrainerSpec own = spec;
  own.tables.storage = TrainerSpec::Storage::kMemory;
  return own;
}

std::string tables_folder(const TrainerSpec& spec, int rank) {
  return spec.tables.folder + "/rank-" + std::to_string(rank);
}

BatchDivider::BatchDivider(std::vector<std::int64_t> table_rows, TablePlacement placement)
    : table_rows_(std::move(table_rows)), placement_(std::move(placement)) {
  const bool cuts = std::ranges::any_of(placement_.shards, [&](const TableShard& shard) {
    return shard.rows != table_rows_[shard.feature];
  });
  all_whole_ = !cuts && placement_.shards.size() == table_rows_.size();
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
