#include "actors/format/parquet/offset_index.h"

#include <limits>

#include "actors/format/parquet/thrift_structs.h"

namespace forebay::parquet {

Result<std::vector<PagePlace>> read_offset_index(std::span<const char> bytes, const Chunk& chunk,
                                                 std::uint64_t rows) {
  const auto damaged = [](const std::string& what) {
    return fail(Code::kCorrupt, "its offset index is damaged: " + what);
  };
  OffsetIndex index;
  ThriftReader reader(bytes);
  if (!reader.read(index)) return damaged(reader.problem());
  // A page's header counts its values in 32 bits, and each row has one.
  constexpr std::uint64_t kMostRows = std::numeric_limits<std::int32_t>::max();
  std::vector<PagePlace> pages;
  std::uint64_t end = chunk.offset;
  for (const PageLocation& page : index.pages) {
    const auto offset = static_cast<std::uint64_t>(page.offset);
    const auto size = static_cast<std::uint64_t>(page.compressed_bytes);
    const auto first_row = static_cast<std::uint64_t>(page.first_row);
    if (page.offset < 0 || page.compressed_bytes <= 0 || offset < end ||
        offset - chunk.offset > chunk.bytes || size > chunk.bytes - (offset - chunk.offset)) {
      return damaged("a page lies outside of its column");
    }
    const std::uint64_t last_row = pages.empty() ? 0 : pages.back().first_row;
    if (page.first_row < 0 || first_row > rows || first_row < last_row ||
        (pages.empty() && first_row != 0)) {
      return damaged("a page begins at row " + std::to_string(page.first_row));
    }
    if (first_row - last_row > kMostRows) return damaged("a page has too many rows");
    pages.push_back({offset, size, first_row});
    end = offset + size;
  }
  if (pages.empty()) return damaged("it has no pages");
  if (chunk.data_offset > 0 && pages.front().offset != chunk.data_offset) {
    return damaged("its first page is at byte " + std::to_string(pages.front().offset) +
                   ", by the footer at byte " + std::to_string(chunk.data_offset));
  }
  if (rows - pages.back().first_row > kMostRows) return damaged("a page has too many rows");
  return pages;
}

}  // namespace forebay::parquet
