#include "actors/epoch_order.h"

#include <algorithm>

#include "core/base/check.h"

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

constexpr std::uint64_t kRowsDomain = 0x726f7773;    // "rows": keys of row permutations
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
      key_(mix64(mix64(dataset.fingerprint().high, dataset.fingerprint().low), spec.seed)) {
  const std::size_t total = dataset.num_blocks();
  FOREBAY_CHECK(total > 0);
  const std::size_t per_split = blocks_per_split(dataset);
  if (shuffle_ != OrderSpec::Shuffle::kFile) {
    add_group(0, total, per_split);
    return;
  }
  for (std::size_t first = 0; first < total;) {
    std::size_t end = first;
    const std::uint32_t file = dataset.block(first).file;
    while (end < total && dataset.block(end).file == file) ++end;
    add_group(first, end - first, per_split);
    first = end;
  }
}

void EpochOrder::add_group(std::size_t first_block, std::size_t blocks,
                           std::size_t blocks_per_split) {
  const std::size_t splits =
      std::max<std::size_t>((blocks + blocks_per_split / 2) / blocks_per_split, 1);
  groups_.push_back({first_block, blocks, num_splits_, splits});
  num_splits_ += splits;
}

const EpochOrder::Group& EpochOrder::group_of(std::size_t split) const {
  const auto after = std::upper_bound(
      groups_.begin(), groups_.end(), split,
      [](std::size_t wanted, const Group& group) { return wanted < group.first_split; });
  return *std::prev(after);
}

std::vector<BlockRef> EpochOrder::blocks(std::uint64_t epoch, std::size_t index) const {
  FOREBAY_CHECK(index < num_splits_);
  const Group& group = group_of(index);
  if (shuffle_ == OrderSpec::Shuffle::kNone) return consecutive(group, index);
  return mixed(group, epoch, index - group.first_split);
}

std::vector<BlockRef> EpochOrder::consecutive(const Group& group, std::size_t index) const {
  std::vector<BlockRef> blocks;
  const std::size_t end = group.blocks * (index + 1) / group.splits;
  for (std::size_t i = group.blocks * index / group.splits; i < end; ++i) {
    blocks.push_back(dataset_.block(group.first_block + i));
  }
  return blocks;
}

// A stratum is a run of as many consecutive blocks as there are splits, so each split takes one
// block of each stratum. The last stratum may be short; only the splits whose index falls inside it
// take a block of it.
std::vector<BlockRef> EpochOrder::mixed(const Group& group, std::uint64_t epoch,
                                        std::size_t index) const {
  std::vector<BlockRef> blocks;
  for (std::size_t first = 0; first < group.blocks; first += group.splits) {
    const std::size_t stratum = group.first_block + first;
    const Permutation permutation(group.splits, mix64(mix64(key_ ^ kBlocksDomain, epoch), stratum));
    const std::size_t chosen = permutation(index);
    if (first + chosen < group.blocks) blocks.push_back(dataset_.block(stratum + chosen));
  }
  return blocks;
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
    const Extent split = Extent::of(consecutive(group, index));
    largest = {std::max(largest.rows, split.rows), std::max(largest.bytes, split.bytes)};
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
      const BlockRef block = dataset_.block(group.first_block + i);
      most = {std::max<std::uint64_t>(most.rows, block.rows),
              std::max(most.bytes, block.loaded_bytes())};
    }
    largest.rows += most.rows;
    largest.bytes += most.bytes;
  }
  return largest;
}

std::uint64_t EpochOrder::row_key(std::uint64_t epoch, std::size_t index) const {
  return mix64(mix64(key_ ^ kRowsDomain, epoch), index);
}

}  // namespace forebay
