#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "actors/format/block_source.h"
#include "actors/source/byte_source.h"
#include "actors/source/dataset.h"
#include "core/base/result.h"

namespace forebay {

/// Loads the blocks of a text file and compares their CRC-32C with the index, while the bytes are
/// in the cache: a disk or a copying program may change the bytes and keep size and time.
///
/// The error for other bytes (kCorrupt) names the file, the block's rows and bytes, and the first
/// row in it that cannot be read now, if there is one; the original content of the rows is not
/// known.
class TextBlocks final : public BlockSource {
 public:
  /// `dataset` must outlive the source.
  TextBlocks(const Dataset& dataset, std::unique_ptr<ByteSource> content)
      : dataset_(dataset), content_(std::move(content)) {}

  Result<std::size_t> load(const BlockRef& block, std::span<char> out) override;
  void prepare(std::span<const BlockRef> blocks) override { content_->prepare(blocks); }

 private:
  Error changed(const BlockRef& block, std::span<const char> bytes) const;

  const Dataset& dataset_;
  std::unique_ptr<ByteSource> content_;
};

}  // namespace forebay
