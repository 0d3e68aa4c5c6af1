#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "trainer/spec.h"

namespace forebay {

/// Rank `rank`'s rows of a global batch of `rows`: [first, end). Equal where `ranks` divides it.
std::pair<std::size_t, std::size_t> rows_of_rank(std::size_t rows, int rank, int ranks);

/// Rows [first, first + rows) of a feature's table, which one rank has.
struct TableShard {
  std::size_t feature = 0;
  std::int64_t first = 0;
  std::int64_t rows = 0;
  int owner = 0;

  bool operator==(const TableShard&) const = default;
};

/// Where the rows of each feature's table are when several ranks train. A function of the tables'
/// sizes, so all ranks find the same one.
struct TablePlacement {
  std::vector<TableShard> shards;       ///< By feature, then by row; those of replicas are none.
  std::vector<std::size_t> replicated;  ///< Features whose table every rank has; ascending.

  std::vector<int> owners() const;
};

/// With kAuto every rank has the tables of at most 1024 rows, since to exchange vectors costs more
/// than to add up the gradients of such a table; those larger than an even share of the rest are
/// cut by rows; each of the others goes to one rank. Every rank gets about as many shards, since
/// what a step costs goes with their number, and of those choices one that spreads the rows.
TablePlacement place_tables(std::span<const std::int64_t> table_rows, TrainerSpec::Placement how,
                            int ranks);

/// What `spec` asks for; hashed tables are never cut or replicated, as their slot metadata count
/// all ids.
TablePlacement place_tables(const TrainerSpec& spec, const ModelShape& shape, int ranks);

/// Those shards alone that rank `rank` owns.
TablePlacement shards_of_rank(const TablePlacement& placement, int rank);

/// The shape of those tables, or parts of tables, alone that rank `rank` owns.
ModelShape shards_of(const ModelShape& shape, const TablePlacement& placement, int rank);

/// Likewise of those that every rank has.
ModelShape replicas_of(const ModelShape& shape, const TablePlacement& placement);

/// How those of shards_of() are kept: those in tiers in a folder of the rank's own, in the memory
/// that replicas leave, and told whole in snapshots, as they are merged with other ranks'. A rank
/// that has none keeps nothing.
TrainerSpec spec_of_shards(const TrainerSpec& spec, const ModelShape& shape,
                           const TablePlacement& placement, int rank);

/// How those of replicas_of() are kept: in memory. A step adds up whole tables of them.
TrainerSpec spec_of_replicas(const TrainerSpec& spec);

/// The folder of a rank's tables in tiers.
std::string tables_folder(const TrainerSpec& spec, int rank);

}  // namespace forebay
