#include "actors/epoch_order.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "core/base/check.h"
#include "core/base/shuffle.h"

namespace forebay {
namespace {

constexpr std::size_t kMostBlocks = 80;
constexpr std::size_t kFewestBlocks = 16;
/// Target bytes of a split: the split and its columns, held twice during the permutation, then fit
/// a core's cache.
constexpr std::uint64_t kSplitBytes = 640 << 10;
/// If blocks have more rows than this, a batch of 8192 rows is made of only one or two splits; such
/// a dataset uses the most blocks per split, so that a batch mixes enough blocks.
constexpr std::uint64_t kManyRows = 8192 / kMostBlocks;

/// Loaded bytes of a split of grains in file order: what one read fetches.
constexpr std::uint64_t kGrainBytes = 1 << 20;
/// A split of grains that are so small that it takes less than this has more than kMostBlocks.
constexpr std::uint64_t kFewestDecoded = 64 << 20;

constexpr std::uint64_t kRowsDomain = 0x726f7773;    // "rows": keys of row permutations
constexpr std::uint64_t kDealDomain = 0x6465616c;    // "deal": keys of the grains' order in a split
constexpr std::uint64_t kBlocksDomain = 0x626c6f63;  // "bloc": keys of block permutations

}  // namespace

std::size_t blocks_per_split(const Dataset& dataset) {
  if (dataset.rows() / dataset.num_blocks() > kManyRows) return kMostBlocks;
  const std::uint64_t mean = std::max<std::uint64_t>(dataset.bytes() / dataset.num_blocks(), 1);
  return std::clamp<std::size_t>(kSplitBytes / mean, kFewestBlocks, kMostBlocks);
}

EpochOrder::EpochOrder(const Dataset& dataset, const OrderSpec& spec)
    : dataset_(dataset),
      shuffle_(spec.shuffle),
      shuffle_memory_(spec.shuffle_memory),
      key_(mix64(mix64(dataset.fingerprint().high, dataset.fingerprint().low), spec.seed)) {
  FOREBAY_CHECK(dataset.num_blocks() > 0);
  if (shuffle_ == OrderSpec::Shuffle::kFile) {
    add_groups_of_files();
  } else {
    add_group(0, dataset.num_blocks());
  }
}

void EpochOrder::add_groups_of_files() {
  const std::size_t total = dataset_.num_blocks();
  for (std::size_t first = 0; first < total;) {
    std::size_t end = first;
    const std::uint32_t file = dataset_.block(first).file;
    while (end < total && dataset_.block(end).file == file) ++end;
    add_group(first, end - first);
    first = end;
  }
}

void EpochOrder::add_group(std::size_t first_block, std::size_t blocks) {
  const std::size_t splits = splits_of(first_block, blocks);
  groups_.push_back({first_block, blocks, num_splits_, splits});
  num_splits_ += splits;
}

std::size_t EpochOrder::splits_of(std::size_t first_block, std::size_t blocks) const {
  if (dataset_.in_grains()) return splits_of_grains(first_block, blocks);
  const std::size_t per_split = blocks_per_split(dataset_);
  return std::max<std::size_t>((blocks + per_split / 2) / per_split, 1);
}

// The fewest splits whose largest fits into `shuffle_memory`, of the usual number of grains each.
// Small grains are more: a split of them would otherwise hold few rows.
std::size_t EpochOrder::splits_of_grains(std::size_t first_block, std::size_t blocks) const {
  const Extent all = extent_of(first_block, blocks);
  if (shuffle_ == OrderSpec::Shuffle::kNone) {
    return std::clamp<std::uint64_t>(all.bytes / kGrainBytes, 1, blocks);
  }
  const std::uint64_t decoded = dataset_.format().decoded_bytes(all);
  const std::uint64_t usual = (blocks + kMostBlocks - 1) / kMostBlocks;
  std::size_t splits = std::max<std::uint64_t>(
      std::min(usual, decoded / std::min(kFewestDecoded, shuffle_memory_)), 1);
  splits = std::clamp<std::uint64_t>(decoded / shuffle_memory_, splits, blocks);
  while (splits < blocks) {
    const Extent largest = largest_mixed({first_block, blocks, 0, splits});
    if (dataset_.format().decoded_bytes(largest) <= shuffle_memory_) break;
    splits += splits / 16 + 1;
  }
  return std::min(splits, blocks);
}

Extent EpochOrder::extent_of(std::size_t first_block, std::size_t blocks) const {
  Extent extent;
  for (std::size_t i = 0; i < blocks; ++i) extent.add(dataset_.block(first_block + i));
  return extent;
}

std::size_t EpochOrder::strata() const {
  std::size_t most = 0;
  for (const Group& group : groups_) {
    most = std::max(most, (group.blocks + group.splits - 1) / group.splits);
  }
  return most;
}

const EpochOrder::Group& EpochOrder::group_of(std::size_t split) const {
  const auto after = std::upper_bound(
      groups_.begin(), groups_.end(), split,
      [](std::size_t wanted, const Group& group) { return wanted < group.first_split; });
  return *std::prev(after);
}

std::vector<std::size_t> EpochOrder::block_numbers(std::uint64_t epoch, std::size_t index) const {
  FOREBAY_CHECK(index < num_splits_);
  const Group& group = group_of(index);
  if (shuffle_ == OrderSpec::Shuffle::kNone) return consecutive(group, index);
  std::vector<std::size_t> numbers = mixed(group, epoch, index - group.first_split);
  if (dataset_.in_grains()) deal(numbers, mix64(row_key(epoch, index), kDealDomain));
  return numbers;
}

std::vector<BlockRef> EpochOrder::blocks(std::uint64_t epoch, std::size_t index) const {
  const std::vector<std::size_t> numbers = block_numbers(epoch, index);
  std::vector<BlockRef> blocks;
  blocks.reserve(numbers.size());
  for (const std::size_t number : numbers) blocks.push_back(dataset_.block(number));
  return blocks;
}

std::size_t EpochOrder::lanes(std::size_t batch_size) const {
  const bool is_mixed = dataset_.in_grains() && shuffle_ == OrderSpec::Shuffle::kAll;
  return is_mixed ? std::gcd(kBatchLanes, batch_size) : 1;
}

void EpochOrder::deal(std::vector<std::size_t>& grains, std::uint64_t key) {
  Random random(key);
  shuffle(std::span(grains), random);
}

std::vector<std::size_t> EpochOrder::consecutive(const Group& group, std::size_t index) {
  std::vector<std::size_t> numbers;
  const std::size_t end = group.blocks * (index + 1) / group.splits;
  for (std::size_t i = group.blocks * index / group.splits; i < end; ++i) {
    numbers.push_back(group.first_block + i);
  }
  return numbers;
}

// A stratum is a run of as many consecutive blocks as there are splits, so each split takes one
// block of each stratum. The last stratum may be short; only the splits whose index falls inside it
// take a block of it.
std::vector<std::size_t> EpochOrder::mixed(const Group& group, std::uint64_t epoch,
                                           std::size_t index) const {
  std::vector<std::size_t> numbers;
  for (std::size_t first = 0; first < group.blocks; first += group.splits) {
    const std::size_t stratum = group.first_block + first;
    const Permutation permutation(group.splits, mix64(mix64(key_ ^ kBlocksDomain, epoch), stratum));
    const std::size_t chosen = permutation(index);
    if (first + chosen < group.blocks) numbers.push_back(stratum + chosen);
  }
  return numbers;
}

std::uint64_t EpochOrder::rows(std::uint64_t epoch, std::size_t first, std::size_t end) const {
  FOREBAY_CHECK(first <= end && end <= num_splits_);
  std::uint64_t rows = 0;
  for (std::size_t index = first; index < end; ++index)
    rows += Extent::of(blocks(epoch, index)).rows;
  return rows;
}

std::vector<Extent> EpochOrder::largest() const {
  std::vector<Extent> extents;
  for (const Group& group : groups_) {
    extents.push_back(shuffle_ == OrderSpec::Shuffle::kNone ? largest_consecutive(group)
                                                            : largest_mixed(group));
  }
  return extents;
}

Extent EpochOrder::largest_consecutive(const Group& group) const {
  Extent largest;
  for (std::size_t index = 0; index < group.splits; ++index) {
    Extent split;
    for (const std::size_t number : consecutive(group, index)) split.add(dataset_.block(number));
    largest.raise_to(split);
  }
  return largest;
}

// A split takes at most the largest block of each stratum.
Extent EpochOrder::largest_mixed(const Group& group) const {
  Extent largest;
  for (std::size_t first = 0; first < group.blocks; first += group.splits) {
    Extent most;
    const std::size_t end = std::min(first + group.splits, group.blocks);
    for (std::size_t i = first; i < end; ++i) {
      most.raise_to(Extent::of(dataset_.block(group.first_block + i)));
    }
    largest.add(most);
  }
  return largest;
}

std::uint64_t EpochOrder::row_key(std::uint64_t epoch, std::size_t index) const {
  return mix64(mix64(key_ ^ kRowsDomain, epoch), index);
}

}  // namespace forebay
