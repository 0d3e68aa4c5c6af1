#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/result.h"
#include "core/data/batch.h"
#include "trainer/ranks/placement.h"

namespace forebay {

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

    void clear();
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
