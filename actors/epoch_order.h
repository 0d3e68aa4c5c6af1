#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "actors/format/raw_split.h"
#include "actors/pipeline_spec.h"
#include "actors/source/dataset.h"
#include "core/base/random.h"

namespace forebay {

/// A keyed permutation of [0, size) that computes each element on demand, without a table.
///
/// A balanced Feistel network of four rounds over the smallest even number of bits that holds
/// `size`, walked until it lands inside (Black and Rogaway, "Ciphers with Arbitrary Finite
/// Domains", 2002; fewer than four steps on average). A value; the same on every machine.
class Permutation {
 public:
  /// `size` >= 1.
  constexpr Permutation(std::uint64_t size, std::uint64_t key)
      : size_(size),
        half_bits_((static_cast<unsigned>(std::bit_width(size - 1)) + 1) / 2),
        key_(key) {}

  /// The image of `i` < size.
  constexpr std::uint64_t operator()(std::uint64_t i) const {
    do {
      i = encrypt(i);
    } while (i >= size_);
    return i;
  }

 private:
  constexpr std::uint64_t encrypt(std::uint64_t block) const {
    const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
    std::uint64_t left = block >> half_bits_;
    std::uint64_t right = block & mask;
    for (std::uint64_t round = 0; round < 4; ++round) {
      const std::uint64_t mixed = left ^ (mix64(key_ + round, right) & mask);
      left = right;
      right = mixed;
    }
    return left << half_bits_ | right;
  }

  std::uint64_t size_;
  unsigned half_bits_;
  std::uint64_t key_;
};

/// The sequence of splits of every epoch: a pure function of (dataset, seed, shuffle mode).
///
/// Stores no table of splits: any split of any epoch is computed on request, with the same result
/// on every machine. Immutable; any thread may call it. The dataset must outlive it.
class EpochOrder {
 public:
  EpochOrder(const Dataset& dataset, const OrderSpec& spec);

  /// Splits in each epoch; at least 1.
  std::size_t num_splits() const { return num_splits_; }

  /// The blocks of split `index` < num_splits(): in dataset order, or those of a shuffled split of
  /// grains in an order drawn for this split, which deals them to lanes (design/grains.md).
  std::vector<BlockRef> blocks(std::uint64_t epoch, std::size_t index) const;
  /// The numbers of these blocks in the dataset.
  std::vector<std::size_t> block_numbers(std::uint64_t epoch, std::size_t index) const;

  /// Number of rows, including damaged and held-out rows, in splits [first, end), end <=
  /// num_splits(). Visits each block of these splits.
  std::uint64_t rows(std::uint64_t epoch, std::size_t first, std::size_t end) const;

  /// The most blocks of a split: the strata that it mixes.
  std::size_t strata() const;

  /// In how many lanes the rows run from the splits to batches of `batch_size` rows: the most up to
  /// kBatchLanes of which each gives equally many rows to a batch. One unless the grains of all
  /// files are mixed.
  std::size_t lanes(std::size_t batch_size) const;

  /// Whether the rows of a split are permuted at all.
  bool permutes_rows() const { return shuffle_ != OrderSpec::Shuffle::kNone; }

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

  void add_group(std::size_t first_block, std::size_t blocks);
  void add_groups_of_files();
  std::size_t splits_of(std::size_t first_block, std::size_t blocks) const;
  std::size_t splits_of_grains(std::size_t first_block, std::size_t blocks) const;
  Extent extent_of(std::size_t first_block, std::size_t blocks) const;
  const Group& group_of(std::size_t split) const;
  Extent largest_mixed(const Group& group) const;
  Extent largest_consecutive(const Group& group) const;
  static void deal(std::vector<std::size_t>& grains, std::uint64_t key);
  std::vector<std::size_t> mixed(const Group& group, std::uint64_t epoch, std::size_t index) const;
  static std::vector<std::size_t> consecutive(const Group& group, std::size_t index);

  const Dataset& dataset_;
  OrderSpec::Shuffle shuffle_;
  std::uint64_t shuffle_memory_;
  std::uint64_t key_;  // of (fingerprint, seed)
  std::vector<Group> groups_;
  std::size_t num_splits_ = 0;
};

/// How many blocks make a split of a dataset: see design/order.md.
std::size_t blocks_per_split(const Dataset& dataset);

}  // namespace forebay
