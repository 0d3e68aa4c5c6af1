#include "core/store/rows/row_segment.h"

#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

using namespace forebay;

namespace {

/// A segment's file of so many rows; this test does not read its pages.
std::string file_of(const RowPageShape& shape, const RowSegment& segment) {
  const std::uint64_t pages = RowSegment::pages(shape, segment.numbers.size());
  std::string content(pages * shape.page_bytes, 'p');
  const DirectMemory footer = segment.footer(shape);
  content.append(footer.data(), footer.size());
  return content;
}

}  // namespace

TEST_CASE("a segment's index is read back as it was written", "[store]") {
  const RowPageShape shape(256);
  RowSegment segment{.sequence = 12, .numbers = {}};
  const std::uint64_t rows = GENERATE(0, 1, 15, 16, 512, 513);  // 15 a page; 512 numbers are one
  for (std::uint64_t row = 0; row < rows; ++row) segment.numbers.push_back(row * row);
  const test::TempDir dir;
  const std::string content = file_of(shape, segment);
  CHECK(content.size() == RowSegment::bytes(shape, rows));
  const auto read = RowSegment::open(dir.write("segment", content), shape);
  REQUIRE(read);
  CHECK(read->sequence == 12);
  CHECK(read->numbers == segment.numbers);
}

TEST_CASE("a segment that is cut off, damaged or of other rows is refused by name", "[store]") {
  const RowPageShape shape(256);
  const test::TempDir dir;
  std::string content = file_of(shape, {.sequence = 1, .numbers = {4, 5, 6}});
  const auto refusal = [&](const std::string& changed, const RowPageShape& wanted) {
    const std::string path = dir.write("segment", changed);
    const auto read = RowSegment::open(path, wanted);
    REQUIRE_FALSE(read);
    CHECK(read.error().code == Code::kCorrupt);
    CHECK_THAT(read.error().message, Catch::Contains(path));
    return read.error().message;
  };
  CHECK_THAT(refusal("", shape), Catch::Contains("cut off"));
  CHECK_THAT(refusal(content.substr(0, 5000), shape), Catch::Contains("cut off"));
  CHECK_THAT(refusal(content.substr(0, 8192), shape), Catch::Contains("damaged or cut off"));
  CHECK_THAT(refusal(content.substr(4096), shape), Catch::Contains("8192 bytes for 3 rows"));
  CHECK_THAT(refusal(content, RowPageShape(128)), Catch::Contains("256 bytes, not 128"));
  std::string numbers = content;
  numbers[4096] ^= 1;
  CHECK_THAT(refusal(numbers, shape), Catch::Contains("numbers have changed"));
  for (const std::size_t at : {8192, 8192 + 8, 8192 + 47}) {  // magic, sequence, checksum
    std::string last = content;
    last[at] ^= 1;
    CHECK_THAT(refusal(last, shape), Catch::Contains("does not end as a file of rows"));
  }
  CHECK(RowSegment::open(dir.path("none"), shape).error().code == Code::kUnavailable);
}
