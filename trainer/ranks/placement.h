#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "trainer/spec.h"

namespace forebay {

/// Rank `rank`'s rows of a global batch of `rows`: [first, end). Equal shares if `ranks` divides
/// it.
std::pair<std::size_t, std::size_t> rows_of_rank(std::size_t rows, int rank, int ranks);

/// Rows [first, first + rows) of a feature's table, owned by one rank.
struct TableShard {
  std::size_t feature = 0;
  std::int64_t first = 0;
  std::int64_t rows = 0;
  int owner = 0;

  bool operator==(const TableShard&) const = default;
};

/// The location of each feature's table rows when several ranks train. A function of the tables'
/// sizes, so all ranks compute the same placement.
struct TablePlacement {
  std::vector<TableShard> shards;       ///< By feature, then by row; without replicated tables.
  std::vector<std::size_t> replicated;  ///< Features whose table every rank has; ascending.

  std::vector<int> owners() const;
};

/// Which rank owns each feature's table.
struct FeatureOwners {
  FeatureOwners(const std::vector<int>& owners, int ranks);

  std::vector<std::size_t> owner;                     ///< Per feature.
  std::vector<std::vector<std::size_t>> features_of;  ///< Per rank, ascending.
};

/// With kAuto every rank has the tables of at most 1024 rows, because exchanging vectors costs more
/// than summing the gradients of such a table. Tables larger than an even share of the rest are
/// split by rows; each of the others goes to one rank. Every rank gets about as many shards,
/// because the cost of a step grows with their number; among those choices the rows are spread.
TablePlacement place_tables(std::span<const std::int64_t> table_rows, TrainerSpec::Placement how,
                            int ranks);

/// The placement of `spec`; hashed tables are never split or replicated, because their slot
/// metadata count all ids.
TablePlacement place_tables(const TrainerSpec& spec, const ModelShape& shape, int ranks);

/// Only the shards that rank `rank` owns.
TablePlacement shards_of_rank(const TablePlacement& placement, int rank);

/// The shape with only the tables, or parts of tables, that rank `rank` owns.
ModelShape shards_of(const ModelShape& shape, const TablePlacement& placement, int rank);

/// The shape with only the tables that every rank has.
ModelShape replicas_of(const ModelShape& shape, const TablePlacement& placement);

/// The spec for the tables of shards_of(): tiered tables use a folder of the rank's own and the
/// memory that replicas leave, and are written whole in snapshots, because they are merged with
/// those of other ranks. A rank without shards stores nothing.
TrainerSpec spec_of_shards(const TrainerSpec& spec, const ModelShape& shape,
                           const TablePlacement& placement, int rank);

/// The spec for the tables of replicas_of(): in memory, because a step sums whole tables.
TrainerSpec spec_of_replicas(const TrainerSpec& spec);

/// The folder of a rank's tiered tables.
std::string tables_folder(const TrainerSpec& spec, int rank);

}  // namespace forebay
