#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "actors/format/raw_split.h"
#include "actors/order_spec.h"
#include "actors/source/dataset.h"

namespace forebay {

/// The sequence of splits of every epoch: a pure function of (dataset, seed, shuffle mode).
///
/// Stores no table of splits: any split of any epoch is computed on request, with the same result
/// on every machine. Immutable; any thread may call it. The dataset must outlive it.
class EpochOrder {
 public:
  EpochOrder(const Dataset& dataset, const OrderSpec& spec);

  /// Splits in each epoch; at least 1.
  std::size_t num_splits() const { return num_splits_; }

  /// The blocks of split `index` < num_splits(), in dataset order.
  std::vector<BlockRef> blocks(std::uint64_t epoch, std::size_t index) const;

  /// Number of rows, including damaged and held-out rows, in splits [first, end), end <=
  /// num_splits(). Visits each block of these splits.
  std::uint64_t rows(std::uint64_t epoch, std::size_t first, std::size_t end) const;

  /// Whether the rows of a split are permuted at all.
  bool permutes_rows() const { return shuffle_ != OrderSpec::Shuffle::kNone; }

  /// Rows and bytes of a split.
  struct Extent {
    std::uint64_t rows = 0;
    std::uint64_t bytes = 0;
  };
  /// For each group of blocks that are mixed with one another, an upper bound on every split of
  /// every epoch.
  std::vector<Extent> largest() const;

  /// The key of the permutation of the rows of a split.
  std::uint64_t row_key(std::uint64_t epoch, std::size_t index) const;

 private:
  /// A run of neighbouring blocks that are mixed with one another: the dataset or one file.
  struct Group {
    std::size_t first_block = 0;
    std::size_t blocks = 0;
    std::size_t first_split = 0;
    std::size_t splits = 0;
  };

  void add_group(std::size_t first_block, std::size_t blocks, std::size_t blocks_per_split);
  const Group& group_of(std::size_t split) const;
  Extent largest_mixed(const Group& group) const;
  Extent largest_consecutive(const Group& group) const;
  std::vector<BlockRef> mixed(const Group& group, std::uint64_t epoch, std::size_t index) const;
  std::vector<BlockRef> consecutive(const Group& group, std::size_t index) const;
  std::uint64_t rows_mixed(const Group& group, std::uint64_t epoch, std::size_t first,
                           std::size_t end) const;
  std::uint64_t rows_consecutive(const Group& group, std::size_t first, std::size_t end) const;

  const Dataset& dataset_;
  OrderSpec::Shuffle shuffle_;
  std::uint64_t key_;  // of (fingerprint, seed)
  std::vector<Group> groups_;
  std::size_t num_splits_ = 0;
};

/// How many blocks make a split of a dataset: see design/order.md.
std::size_t blocks_per_split(const Dataset& dataset);

}  // namespace forebay
