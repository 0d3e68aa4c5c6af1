#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "actors/format/format.h"
#include "actors/source/index/block_builder.h"
#include "core/base/check.h"
#include "core/data/buffer_pool.h"

namespace forebay::test {

/// The work of the index and the load stage, in memory: text → rows → blocks → the bytes of a
/// split.
class SplitMaker {
 public:
  /// Feeds `text` to the format's scanner, `piece` bytes at a time.
  static Result<BlockBuilder> index(const TextFormat& format, std::string_view text,
                                    std::size_t piece, std::uint64_t slot = 64) {
    BlockBuilder blocks(slot);
    auto scanner = format.scanner();
    for (std::size_t at = 0; at < text.size(); at += piece) {
      const std::string_view part = text.substr(at, piece);
      if (auto status = scanner->scan({part.data(), part.size()}, blocks); !status) {
        return pass(status);
      }
    }
    scanner->finish(blocks);
    return blocks;
  }

  /// The split of all blocks of `text`, in file order, as file number `file`.
  RawSplit split(std::string_view text, const BlockBuilder& index, std::uint32_t file = 0) {
    return make(text, index, file, 0, index.blocks().size());
  }

  /// The split of block `i` alone.
  RawSplit split_of_block(std::string_view text, const BlockBuilder& index, std::size_t i) {
    return make(text, index, 0, i, i + 1);
  }

  /// Scans, cuts and decodes `text`, which must be indexable.
  Decoded decode(const TextFormat& format, std::string_view text, const DecodeOptions& options = {},
                 std::size_t piece = 1000) {
    const auto blocks = index(format, text, piece);
    FOREBAY_CHECK(blocks);
    return format.decode(split(text, *blocks), options, pool_);
  }

  BufferPool& pool() { return pool_; }

 private:
  RawSplit make(std::string_view text, const BlockBuilder& index, std::uint32_t file,
                std::size_t first, std::size_t last) {
    RawSplit raw;
    std::string bytes;
    const std::vector<Block>& blocks = index.blocks();
    for (std::size_t i = first; i < last; ++i) {
      const std::uint64_t end = i + 1 < blocks.size() ? blocks[i + 1].offset : text.size();
      std::string block(text.substr(blocks[i].offset, end - blocks[i].offset));
      raw.blocks.push_back({.file = file,
                            .rows = blocks[i].rows,
                            .offset = blocks[i].offset,
                            .bytes = block.size(),
                            .line = blocks[i].line});
      if (!block.ends_with('\n')) block += '\n';
      raw.sizes.push_back(block.size());
      bytes += block;
    }
    raw.bytes = pool_.take(bytes.size());
    std::memcpy(raw.bytes.data(), bytes.data(), bytes.size());
    std::memset(raw.bytes.data() + bytes.size(), '\n',
                Buffer::kPadding);  // Must not be read as rows.
    return raw;
  }

  MemoryBudget budget_{std::size_t{1} << 40};
  BufferPool pool_{budget_};
};

/// The ids of row `row` of a sparse column.
inline std::vector<std::int64_t> ids_of(const SparseColumn& column, std::size_t row) {
  const auto first =
      column.offsets == nullptr ? row : static_cast<std::size_t>(column.offsets[row]);
  const auto last =
      column.offsets == nullptr ? row + 1 : static_cast<std::size_t>(column.offsets[row + 1]);
  return {column.values + first, column.values + last};
}

}  // namespace forebay::test
