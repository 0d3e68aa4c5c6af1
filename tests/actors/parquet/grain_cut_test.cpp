#include "actors/format/parquet/grain_cut.h"

#include <vector>

#include "tests/support/catch.h"

namespace forebay::parquet {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
using Rows = std::vector<std::uint64_t>;

// A column of pages of `page_rows` rows, back to back behind a dictionary.
ColumnPages column_of(std::uint64_t rows, std::uint64_t page_rows, std::uint64_t page_bytes,
                      std::uint64_t dictionary = 0) {
  ColumnPages column;
  std::uint64_t end = dictionary;
  for (std::uint64_t row = 0; row < rows; row += page_rows, end += page_bytes)
    column.pages.push_back({.offset = end, .bytes = page_bytes, .first_row = row});
  column.chunk = {.offset = 0, .bytes = end, .values = rows};
  return column;
}

TEST_CASE("a small row group is one grain", "[parquet]") {
  CHECK_FALSE(wants_cut({.rows = 1000, .decoded = kMiB}, {column_of(1000, 100, 1000)}));
}

TEST_CASE("a row group is cut into grains of about a MiB where its pages begin", "[parquet]") {
  const std::vector columns = {column_of(8000, 1000, kMiB / 2)};
  REQUIRE(wants_cut({.rows = 8000, .decoded = kMiB}, columns));
  CHECK(cut_group({.rows = 8000, .decoded = kMiB}, columns) == Rows{0, 2000, 4000, 6000});
}

TEST_CASE("columns that grow when they are decoded make more grains", "[parquet]") {
  const std::vector columns = {column_of(8000, 1000, 1000)};
  CHECK(cut_group({.rows = 8000, .decoded = 16 * kMiB}, columns) == Rows{0, 2000, 4000, 6000});
}

TEST_CASE("borders are those of the most columns", "[parquet]") {
  // Rows 2000 and 4000 are borders of both columns, 3000 and 5000 of one.
  const std::vector columns = {column_of(6000, 1000, kMiB / 4), column_of(6000, 2000, kMiB / 2)};
  const Rows begins = cut_group({.rows = 6000, .decoded = kMiB}, columns);
  CHECK(begins == Rows{0, 2000, 4000});
}

TEST_CASE("grains grow until little is read twice", "[parquet]") {
  SECTION("of pages that end at different rows") {
    // Each border but 8400 lies within a page of 700 or of 1200 rows.
    const std::vector columns = {column_of(16'800, 700, kMiB / 4),
                                 column_of(16'800, 1200, kMiB / 4)};
    CHECK(cut_group({.rows = 16'800, .decoded = kMiB}, columns).size() < 5);
  }
  SECTION("of dictionaries, which may be read twice for nothing") {
    const std::vector columns = {column_of(8000, 1000, kMiB / 2, kMiB)};
    CHECK(cut_group({.rows = 8000, .decoded = kMiB}, columns).size() == 2);
  }
  SECTION("unless a grain would take too much memory") {
    const std::vector columns = {column_of(8000, 1000, kMiB / 2, kMiB)};
    CHECK(cut_group({.rows = 8000, .decoded = 256 * kMiB}, columns).size() == 4);
  }
}

TEST_CASE("the pages of some rows are those that hold one of them", "[parquet]") {
  const ColumnPages column = column_of(1000, 100, 10);
  const auto span = [&column](std::uint64_t first, std::uint64_t end) {
    const PageSpan pages = pages_of(column, first, end);
    return Rows{pages.first, pages.end};
  };
  CHECK(span(0, 1000) == Rows{0, 10});
  CHECK(span(100, 200) == Rows{1, 2});
  CHECK(span(199, 201) == Rows{1, 3});
  CHECK(span(950, 960) == Rows{9, 10});
}

}  // namespace
}  // namespace forebay::parquet
