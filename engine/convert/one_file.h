#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "actors/source/dataset.h"

namespace forebay {

/// One file of a dataset as a dataset: its blocks alone, under the number that the file has among
/// all files. Immutable; the dataset must outlive it.
class OneFile final : public Dataset {
 public:
  /// `blocks` blocks from number `first` on are those of file number `file`.
  OneFile(const Dataset& dataset, std::uint32_t file, std::size_t first, std::size_t blocks);

  const Format& format() const override { return dataset_.format(); }
  const std::vector<DatasetFile>& files() const override { return dataset_.files(); }
  std::size_t num_blocks() const override { return blocks_; }
  BlockRef block(std::size_t i) const override { return dataset_.block(first_ + i); }
  std::uint64_t rows() const override { return dataset_.files()[file_].rows; }
  std::uint64_t bytes() const override { return bytes_; }
  /// Returns the most bytes of its rows, loaded or decoded.
  std::uint64_t largest_bytes() const { return std::max(bytes_, decoded_); }
  bool in_grains() const override { return dataset_.in_grains(); }
  Digest fingerprint() const override { return dataset_.fingerprint(); }
  Result<std::unique_ptr<BlockSource>> open(std::uint32_t file) const override {
    return dataset_.open(file);
  }

 private:
  const Dataset& dataset_;
  const std::uint32_t file_;
  const std::size_t first_;
  const std::size_t blocks_;
  std::uint64_t bytes_ = 0;
  std::uint64_t decoded_ = 0;
};

/// Returns each file of `dataset`, in order; those without rows have no blocks.
std::vector<std::unique_ptr<const OneFile>> files_of(const Dataset& dataset);

}  // namespace forebay
