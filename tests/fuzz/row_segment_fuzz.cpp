#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <span>
#include <string>

#include "core/base/check.h"
#include "core/store/rows/row_log.h"
#include "core/store/rows/segment_index.h"
#include "tests/support/temp_dir.h"

namespace {

constexpr std::size_t kRow = 8;
constexpr std::uint64_t kRows = 600;  // 255 a page

/// A folder for as long as the fuzzer runs.
std::string folder() {
  static const forebay::test::TempDir dir;
  return dir.path();
}

void scan(std::span<const char> file) {
  std::ofstream(folder() + "/" + forebay::segment_name(1), std::ios::binary)
      .write(file.data(), static_cast<std::streamsize>(file.size()));
  std::map<std::uint64_t, int> seen;
  const auto scanned = forebay::RowLog::scan(
      folder(), {.row_bytes = kRow, .most_rows = kRows},
      [&](std::uint64_t number, std::span<const std::byte> row) -> forebay::Status {
        FOREBAY_CHECK(number < kRows && row.size() == kRow);
        ++seen[number];
        return {};
      });
  if (!scanned) FOREBAY_CHECK(scanned.error().code == forebay::Code::kCorrupt);
}

/// The input as row numbers of two bytes: a valid footer, and pages with valid checksums for as
/// many rows, with those numbers or with others.
void scan_sealed(const std::uint8_t* data, std::size_t size) {
  const forebay::RowPageShape shape(kRow);
  forebay::RowSegment segment{.sequence = 1, .numbers = {}};
  for (std::size_t at = 2; at + 1 < size; at += 2) {
    segment.numbers.push_back(data[at] | static_cast<std::uint64_t>(data[at + 1]) << 8);
  }
  const std::uint64_t pages = forebay::RowSegment::pages(shape, segment.numbers.size());
  const forebay::DirectMemory footer = segment.footer(shape);
  std::vector<char> file(pages * shape.page_bytes);
  for (std::size_t row = 0; row < segment.numbers.size(); ++row) {
    const std::uint64_t place = row / shape.rows;
    forebay::RowPage page(shape, file.data() + place * shape.page_bytes);
    page.add(segment.numbers[row] ^ (data[0] & 1));
    page.seal(forebay::RowSegment::where(1, place));
  }
  file.insert(file.end(), footer.data(), footer.data() + footer.size());
  scan(file);
  file[(data[1] * std::size_t{977}) % file.size()] ^= 1;
  scan(file);
}

}  // namespace

/// Any bytes as a log's segment, and any numbers in one with valid checksums: a scan returns no row
/// that the tables do not have.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  scan({reinterpret_cast<const char*>(data), size});
  if (size >= 2) scan_sealed(data, size);
  return 0;
}
