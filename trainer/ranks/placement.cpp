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

FeatureOwners::FeatureOwners(const std::vector<int>& owners, int ranks)
    : features_of(static_cast<std::size_t>(ranks)) {
  owner.reserve(owners.size());
  for (const int rank : owners) {
    features_of.at(static_cast<std::size_t>(rank)).push_back(owner.size());
    owner.push_back(static_cast<std::size_t>(rank));
  }
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

}  // namespace forebay
