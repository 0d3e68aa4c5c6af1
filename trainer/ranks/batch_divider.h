#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/data/batch.h"
#include "core/data/batch_lists.h"
#include "trainer/ranks/placement.h"

namespace forebay {

/// Divides a batch's ids by shard, and collects those of replicated tables: for the batch of a
/// rank's rows, by all shards; for a global batch, by the shards of one rank (shards_of_rank).
///
/// Lists that rows share (Batch::lists_once) stay shared. Owns the returned batches, which are
/// valid until the next one and have no labels and dense features. One thread.
class BatchDivider {
 public:
  /// `ranks`: among how many ranks the rows of the batches are divided (rows_of_rank); rows of
  /// different ranks share no list in the returned batches.
  BatchDivider(std::vector<std::int64_t> table_rows, TablePlacement placement, int ranks = 1);

  enum class What : std::uint8_t {
    kAll,
    kReplicas,  ///< The ids of the shards were divided before.
  };
  /// Returns an error for lengths that are negative or do not add up to the batch's ids. The
  /// batch must have sound repeats (are_sound).
  Status divide(const Batch& mine, What what = What::kAll);

  /// One sparse feature per shard; ids of a split table are keys in their shard. If every table is
  /// a single shard, and the rows are one rank's, this is the divided batch itself.
  const Batch& sharded() const { return *sharded_; }
  /// One sparse feature per replicated table.
  const Batch& replicated() const { return replicas_.batch; }

 private:
  /// A batch and the memory it points to.
  struct Division {
    std::vector<std::int32_t> lengths;
    std::vector<std::int64_t> ids;
    std::size_t features = 0;
    std::vector<FeatureGroup> groups;  // by entry in the divided batch's repeats
    Batch batch;

    void clear();
    /// Begins with a feature of the divided batch, which has these lists.
    void begin_feature(const BatchLists& lists, std::size_t feature);
    void point(const Batch& mine, std::span<const OwnedRepeats> cuts);
  };

  Status measure(const Batch& mine);
  void take(const Batch& mine, What what);
  /// Cuts the lists that rows of several ranks share.
  void cut_repeats(const Batch& mine);
  const OwnedRepeats& cut_of(std::size_t feature) const { return cuts_[lists_.group(feature)]; }
  void take_whole(const Batch& mine, std::size_t feature, Division& to) const;
  void take_shard(const TableShard& shard);
  /// Calls `use` with the ids of each list of a feature, as the returned batches have them.
  template <class Use>
  void for_lists(std::size_t feature, const Use& use) const;

  const std::vector<std::int64_t> table_rows_;
  const TablePlacement placement_;
  const int ranks_;
  bool all_whole_ = true;           // Every table is a single shard, and the rows are one rank's.
  BatchLists lists_;                // of the divided batch
  std::vector<OwnedRepeats> cuts_;  // by entry in the divided batch's repeats
  std::vector<std::int32_t> kept_;  // how many ids of each list of a feature are a shard's
  Division shards_, replicas_;
  const Batch* sharded_ = nullptr;
};

}  // namespace forebay
