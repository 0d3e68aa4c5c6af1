#include <cstring>
#include <vector>

#include "core/store/rows/row_segment.h"
#include "core/store/rows/segment_index.h"

#include "tests/support/catch.h"

using namespace forebay;

TEST_CASE("a page is as small as wastes less than a quarter", "[store]") {
  // Four pages of 4096 at most; each row has 8 bytes for its number, a page 8 of its own.
  struct Case {
    std::size_t row_bytes, page_bytes, rows;
  };
  const auto [row_bytes, page_bytes, rows] =
      GENERATE(Case{256, 4096, 15},     // 15 · 264 + 8 = 3968
               Case{8, 4096, 255},      // 255 · 16 + 8 = 4088
               Case{1024, 4096, 3},     // 3 · 1032: just above three quarters
               Case{2100, 8192, 3},     // one in 4096 would leave half of it
               Case{20000, 20480, 1});  // 20000 + 16, to whole pages
  const RowPageShape shape(row_bytes);
  CHECK(shape.page_bytes == page_bytes);
  CHECK(shape.rows == rows);
}

TEST_CASE("a page gives back its rows by number", "[store]") {
  const RowPageShape shape(1000);
  std::vector<char> memory(shape.page_bytes, 'x');
  RowPage page(shape, memory.data());
  page.clear();
  CHECK(page.rows() == 0);
  for (const std::uint64_t number : {7, 3, 900, 4}) {
    REQUIRE_FALSE(page.full());
    std::ranges::fill(page.add(number), static_cast<std::byte>(number % 251));
  }
  CHECK(page.full());
  CHECK(page.find(900) == 2);
  CHECK(page.number(2) == 900);
  CHECK(page.row(2).size() == 1000);
  CHECK(page.row(2).back() == static_cast<std::byte>(900 % 251));
  CHECK_FALSE(page.find(8));
}

TEST_CASE("a sealed page is intact there and nowhere else, until any of its bits changes",
          "[store]") {
  const RowPageShape shape(64);
  std::vector<char> memory(shape.page_bytes);
  RowPage page(shape, memory.data());
  page.clear();
  page.add(5);
  page.seal(42);
  CHECK(page.intact(42));
  CHECK_FALSE(page.intact(43));
  for (const std::size_t at : {0UL, 4UL, 9UL, 1000UL, shape.page_bytes - 1}) {
    memory[at] ^= 4;
    CHECK_FALSE(page.intact(42));
    memory[at] ^= 4;
  }
  CHECK(page.intact(42));
}

TEST_CASE("a page that claims more rows than fit is not intact", "[store]") {
  const RowPageShape shape(64);
  std::vector<char> memory(shape.page_bytes);
  const auto rows = static_cast<std::uint32_t>(shape.rows + 1);
  std::memcpy(memory.data() + 4, &rows, sizeof rows);
  RowPage page(shape, memory.data());
  page.seal(1);
  CHECK_FALSE(page.intact(1));
}

TEST_CASE("locations take the bytes of the largest one and do not overlap", "[store]") {
  const std::uint64_t most = GENERATE(std::uint64_t{200}, std::uint64_t{256},
                                      std::uint64_t{16'777'215}, std::uint64_t{1} << 40);
  constexpr std::uint64_t kRows = 50;
  RowLocations places(kRows, most);
  for (std::uint64_t row = 0; row < kRows; ++row) CHECK(places.get(row) == 0);
  for (std::uint64_t row = 0; row < kRows; row += 2) places.set(row, most);
  for (std::uint64_t row = 1; row < kRows; row += 2) places.set(row, row);
  for (std::uint64_t row = 0; row < kRows; ++row)
    CHECK(places.get(row) == (row % 2 == 0 ? most : row));
  CHECK(RowLocations::bytes(kRows, 255) == kRows + 8);
  CHECK(RowLocations::bytes(kRows, 16'777'216) == 4 * kRows + 8);
}
