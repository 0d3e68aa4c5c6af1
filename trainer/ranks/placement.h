#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/data/batch.h"
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

/// Divides a batch's ids by shard, and collects those of replicated tables: for the batch of a
/// rank's rows, by all shards; for a global batch, by the shards of one rank (shards_of_rank).
///
/// Owns the returned batches, which are valid until the next one and have no labels and dense
/// features. One thread.
class BatchDivider {
 public:
  BatchDivider(std::vector<std::int64_t> table_rows, TablePlacement placement);

  enum class What : std::uint8_t {
    kAll,
    kReplicas,  ///< The ids of the shards were divided before.
  };
  /// Returns an error for lengths that are negative or do not add up to the batch's ids.
  Status divide(const Batch& mine, What what = What::kAll);

  /// One sparse feature per shard; ids of a split table are keys in their shard. If every table is
  /// a single shard, this is the divided batch itself.
  const Batch& sharded() const { return *sharded_; }
  /// One sparse feature per replicated table.
  const Batch& replicated() const { return replicas_.batch; }

 private:
  /// A batch and the memory it points to.
  struct Division {
    std::vector<std::int32_t> lengths;
    std::vector<std::int64_t> ids;
    Batch batch;

    void clear() {
      lengths.clear();
      ids.clear();
    }
    void point(const Batch& mine, std::size_t features);
  };

  Status measure(const Batch& mine);
  void take_whole(const Batch& mine, std::size_t feature, Division& to) const;
  void take_shard(const Batch& mine, const TableShard& shard);

  const std::vector<std::int64_t> table_rows_;
  const TablePlacement placement_;
  bool all_whole_ = true;  // Every table is a single shard.
  std::vector<std::size_t> first_id_;
  Division shards_, replicas_;
  const Batch* sharded_ = nullptr;
};

}  // namespace forebay
