#include "actors/format/parquet/offset_index.h"

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/parquet_bytes.h"

#include "tests/support/catch.h"

namespace forebay::parquet {
namespace {

using test::ThriftWriter;

constexpr Chunk kChunk{.offset = 4, .bytes = 100};

/// What is wrong with the index of a chunk of ten bytes a page, whose pages begin at these rows,
/// the first at the byte `offset`.
std::string problem_of(const std::vector<std::int64_t>& first_rows, std::uint64_t rows,
                       std::int64_t offset = 4, const Chunk& chunk = kChunk) {
  std::vector<ThriftWriter> pages;
  for (const std::int64_t row : first_rows) {
    pages.push_back(ThriftWriter().wide(1, offset).number(2, 10).wide(3, row));
    offset += 10;
  }
  const std::string bytes = ThriftWriter().inners(1, pages).ended();
  const auto found = read_offset_index(bytes, chunk, rows);
  return found ? "" : found.error().message;
}

TEST_CASE("pages of more rows than a page can have are damage of the index", "[parquet]") {
  constexpr std::int64_t kMost = 2'147'483'647;
  CHECK(problem_of({0, kMost}, 2 * kMost).empty());
  const std::string many = "its offset index is damaged: a page has too many rows";
  CHECK(problem_of({0, kMost + 1}, 2 * kMost) == many);
  CHECK(problem_of({0, kMost}, 2 * kMost + 1) == many);
}

TEST_CASE("an index whose pages are all a page further than the footer says is damage",
          "[parquet]") {
  Chunk chunk = kChunk;
  chunk.data_offset = 24;  // behind a dictionary of 20 bytes
  CHECK(problem_of({0, 5}, 9, 24, chunk).empty());
  CHECK(problem_of({0, 5}, 9, 34, chunk) ==
        "its offset index is damaged: its first page is at byte 34, by the footer at byte 24");
  chunk.data_offset = 0;  // the footer does not say
  CHECK(problem_of({0, 5}, 9, 34, chunk).empty());
}

}  // namespace
}  // namespace forebay::parquet
