#include "actors/format/parquet/offset_index.h"

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/parquet_bytes.h"

#include "tests/support/catch.h"

namespace forebay::parquet {
namespace {

using test::ThriftWriter;

/// What is wrong with the index of a chunk of ten bytes a page, whose pages begin at these rows.
std::string problem_of(const std::vector<std::int64_t>& first_rows, std::uint64_t rows) {
  std::vector<ThriftWriter> pages;
  std::int64_t offset = 4;
  for (const std::int64_t row : first_rows) {
    pages.push_back(ThriftWriter().wide(1, offset).number(2, 10).wide(3, row));
    offset += 10;
  }
  const std::string bytes = ThriftWriter().inners(1, pages).ended();
  const auto found = read_offset_index(bytes, {.offset = 4, .bytes = 100}, rows);
  return found ? "" : found.error().message;
}

TEST_CASE("pages of more rows than a page can have are damage of the index", "[parquet]") {
  constexpr std::int64_t kMost = 2'147'483'647;
  CHECK(problem_of({0, kMost}, 2 * kMost).empty());
  const std::string many = "its offset index is damaged: a page has too many rows";
  CHECK(problem_of({0, kMost + 1}, 2 * kMost) == many);
  CHECK(problem_of({0, kMost}, 2 * kMost + 1) == many);
}

}  // namespace
}  // namespace forebay::parquet
