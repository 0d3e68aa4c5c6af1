#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "actors/source/dataset.h"
#include "core/base/result.h"
#include "core/data/digest.h"

namespace forebay {

/// How many rows of each block of a dataset remain: are neither damaged nor held out nor sampled
/// away. The ranks of a training have to know it, since the rows of a split before decide which
/// rows of a batch are theirs.
///
/// Immutable; any thread may read it. The dataset outlives it.
class RowCounts {
 public:
  /// All rows remain.
  explicit RowCounts(const Dataset& dataset) : dataset_(&dataset), total_(dataset.rows()) {}
  /// `of_blocks` has an entry for each block.
  RowCounts(const Dataset& dataset, std::vector<std::uint32_t> of_blocks);

  std::uint32_t of(std::size_t block) const {
    return of_blocks_.empty() ? dataset_->block(block).rows : of_blocks_[block];
  }
  std::uint64_t total() const { return total_; }

  /// Writes the counts to `path`; `key` says what they depend on.
  Status save(const std::string& path, const Digest& key) const;
  /// Reads what save() wrote with this key. kCorrupt: the file is damaged, or not of this dataset.
  static Result<RowCounts> load(const std::string& path, const Digest& key, const Dataset& dataset);

 private:
  const Dataset* dataset_;
  std::vector<std::uint32_t> of_blocks_;  // empty: all rows of each
  std::uint64_t total_ = 0;
};

}  // namespace forebay
