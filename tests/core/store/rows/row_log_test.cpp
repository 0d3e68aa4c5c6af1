#include "core/store/rows/row_log.h"

#include <filesystem>
#include <numeric>
#include <thread>

#include "core/base/random.h"
#include "tests/core/store/rows/file_limit.h"
#include "tests/core/store/rows/numbered_rows.h"
#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

using namespace forebay;
namespace fs = std::filesystem;

namespace {

constexpr std::size_t kRow = 24;
constexpr std::uint64_t kRows = 1000;

RowLog::Options small() { return {.row_bytes = kRow, .most_rows = kRows}; }

std::vector<fs::path> files_in(const std::string& folder) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder)) found.push_back(entry.path());
  std::ranges::sort(found);
  return found;
}

std::uint64_t bytes_in(const std::string& folder) {
  std::uint64_t bytes = 0;
  for (const fs::path& file : files_in(folder)) bytes += fs::file_size(file);
  return bytes;
}

/// The most bytes that the folder may take: rows twice, some segments, and a third for the numbers
/// of the rows at the ends of the files.
std::uint64_t most_bytes(const RowLogPlan& plan) {
  return (2 * plan.all_pages() + 8 * plan.segment_pages) * plan.shape.page_bytes * 4 / 3;
}

test::RowModel some(Random& random, std::uint64_t rows, int count, std::uint64_t value) {
  test::RowModel made;
  for (int i = 0; i < count; ++i) made[random.below(rows)] = value;
  return made;
}

}  // namespace

TEST_CASE("rows are read as last written, also after cleaning and linking", "[store]") {
  const std::size_t row_bytes = GENERATE(24, 1000, 5000);
  const std::uint64_t seed = GENERATE(1, 2, 3);
  INFO(row_bytes << " bytes a row, seed " << seed);
  const test::TempDir dir;
  const RowLog::Options options{.row_bytes = row_bytes, .most_rows = kRows};
  auto log = RowLog::create(dir.path("rows"), options).value();
  Random random(seed);
  test::RowModel model;
  test::RowModel linked;
  const int rounds = row_bytes > 24 ? 120 : 1200;
  for (int round = 1; round < rounds; ++round) {
    // Most rows are written seldom, so that cleaning has rows to move.
    const std::uint64_t below = random.below(10) == 0 ? kRows : 60;
    const test::RowModel changed = some(random, below, 80, static_cast<std::uint64_t>(round));
    const Status written = test::write_rows(*log, changed);
    INFO((written ? "" : written.error().message));
    REQUIRE(written);
    for (const auto& [number, value] : changed) model[number] = value;
    if (random.below(20) == 0) {
      REQUIRE(log->link(dir.path("linked")));
      linked = model;
    }
    if (random.below(10) == 0) REQUIRE(test::read_rows(*log, test::numbers_of(model)) == model);
  }
  CHECK(test::read_rows(*log, test::numbers_of(model)) == model);
  auto again = RowLog::create(dir.path("again"), options, dir.path("linked")).value();
  CHECK(test::read_rows(*again, test::numbers_of(linked)) == linked);
  log.reset();  // No file is removed any more.
  CHECK(bytes_in(dir.path("rows")) <= most_bytes({row_bytes, kRows}));
}

TEST_CASE("a log follows links in place of the files that it begins with", "[store]") {
  const test::TempDir dir;
  auto log = RowLog::create(dir.path("rows"), small()).value();
  const test::RowModel rows = {{1, 10}, {2, 20}};
  REQUIRE(test::write_rows(*log, rows));
  REQUIRE(log->link(dir.path("linked")));
  const auto name = fs::path(files_in(dir.path("linked")).at(0)).filename();
  fs::rename(fs::path(dir.path("linked")) / name, dir.path("elsewhere"));
  fs::create_symlink("../elsewhere", fs::path(dir.path("linked")) / name);
  auto again = RowLog::create(dir.path("again"), small(), dir.path("linked")).value();
  CHECK(fs::is_regular_file(fs::symlink_status(fs::path(dir.path("again")) / name)));
  CHECK(test::read_rows(*again, test::numbers_of(rows)) == rows);
}

TEST_CASE("current rows are moved out of old segments before writing goes on", "[store]") {
  const test::TempDir dir;
  constexpr std::uint64_t kRounds = 120;  // This number of segments is within the bound.
  constexpr std::size_t kLarge = 1000;
  const RowLogPlan plan(kLarge, kRows);
  auto log = RowLog::create(dir.path("rows"), {.row_bytes = kLarge, .most_rows = kRows}).value();
  test::RowModel model;
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    // One row that stays current in each segment, so that only the cleaner can free the segment.
    test::RowModel changed = {{round, round}};
    const std::uint64_t others = plan.segment_pages * plan.shape.rows - 1;
    for (std::uint64_t row = 0; row < others; ++row) changed[kRows - 1 - row] = round;
    REQUIRE(test::write_rows(*log, changed));
    for (const auto& [number, value] : changed) model[number] = value;
  }
  CHECK(test::read_rows(*log, test::numbers_of(model)) == model);
  log.reset();  // No file is removed any more.
  CHECK(bytes_in(dir.path("rows")) <= most_bytes(plan));
}

TEST_CASE("rows are read and written at the same time", "[store]") {
  const test::TempDir dir;
  auto log = RowLog::create(dir.path("rows"), small()).value();
  REQUIRE(test::write_rows(*log, test::first_numbers(kRows), 1));
  const auto upper = [](std::uint64_t value) {
    test::RowModel rows;
    for (std::uint64_t number = kRows / 2; number < kRows; ++number) rows[number] = value;
    return rows;
  };
  const std::vector<std::uint64_t> lower = test::first_numbers(kRows / 2);
  Status written;
  {
    const std::jthread writer([&] {
      for (std::uint64_t value = 2; value < 400 && written; ++value) {
        written = test::write_rows(*log, upper(value));
      }
    });
    for (int round = 0; round < 100; ++round) {
      const auto read = test::read_rows(*log, lower);
      REQUIRE(read);
      for (const auto& [number, value] : *read) REQUIRE(value == 1);
    }
  }
  REQUIRE(written);
  CHECK(test::read_rows(*log, test::numbers_of(upper(399))) == upper(399));
}

TEST_CASE("links hold the rows of their moment, and are opened without being changed", "[store]") {
  const test::TempDir dir;
  auto log = RowLog::create(dir.path("rows"), small()).value();
  const std::vector<std::uint64_t> numbers = {3, 700};
  REQUIRE(test::write_rows(*log, numbers, 1));
  REQUIRE(log->link(dir.path("linked")));
  const auto files = files_in(dir.path("linked"));
  REQUIRE(test::write_rows(*log, numbers, 2));
  for (int time = 0; time < 2; ++time) {
    auto again = RowLog::create(dir.path("again"), small(), dir.path("linked")).value();
    CHECK(test::read_rows(*again, numbers) == test::RowModel{{3, 1}, {700, 1}});
    REQUIRE(test::write_rows(*again, numbers, 3));
    REQUIRE(again->link(dir.path("further")));
  }
  CHECK(files_in(dir.path("linked")) == files);
  CHECK(test::read_rows(*log, numbers) == test::RowModel{{3, 2}, {700, 2}});
}

TEST_CASE("a segment that did not change between two links is the same file in both", "[store]") {
  const test::TempDir dir;
  auto log = RowLog::create(dir.path("rows"), small()).value();
  REQUIRE(test::write_rows(*log, test::first_numbers(kRows), 1));
  REQUIRE(log->link(dir.path("first")));
  REQUIRE(test::write_rows(*log, {5}, 2));
  REQUIRE(log->link(dir.path("second")));
  for (const fs::path& file : files_in(dir.path("first"))) {
    CHECK(fs::equivalent(file, fs::path(dir.path("second")) / file.filename()));
  }
  CHECK(files_in(dir.path("second")).size() == files_in(dir.path("first")).size() + 1);
}

TEST_CASE("small segments of many links are put together", "[store]") {
  const test::TempDir dir;
  auto log = RowLog::create(dir.path("rows"), small()).value();
  test::RowModel model;
  for (std::uint64_t number = 0; number < kRows; ++number) {
    model[number] = number + 1;
    REQUIRE(test::write_rows(*log, {number}, number + 1));
    if (number % 2 == 0) REQUIRE(log->link(dir.path("linked")));
  }
  CHECK(files_in(dir.path("rows")).size() <= RowLogPlan::kMostSegments);
  CHECK(test::read_rows(*log, test::numbers_of(model)) == model);
}

TEST_CASE("one large write waits for cleaning wherever a segment more would be one too many",
          "[store]") {
  const test::TempDir dir;
  const RowLog::Options options{.row_bytes = kRow, .most_rows = 300'000};  // 99 segments.
  auto log = RowLog::create(dir.path("rows"), options).value();
  std::vector<std::uint64_t> all = test::first_numbers(options.most_rows);
  REQUIRE(test::write_rows(*log, all, 1));
  // Segments of half the size with rows from all over; too many for cleaning to have begun.
  for (std::uint64_t first = 0; first < 124; ++first) {
    std::vector<std::uint64_t> some;
    for (std::uint64_t number = first; number < options.most_rows; number += 200) {
      some.push_back(number);
    }
    REQUIRE(test::write_rows(*log, some, 2));
    REQUIRE(log->link(dir.path("linked")));
  }
  // Rows from all over, so that every segment keeps some until the end.
  Random random(1);
  for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[random.below(i)]);
  REQUIRE(test::write_rows(*log, all, 3));
  test::RowModel wanted;
  for (const std::uint64_t number : all) wanted[number] = 3;
  CHECK(test::read_rows(*log, all) == wanted);
}

TEST_CASE("a folder is emptied when rows begin anew", "[store]") {
  const test::TempDir dir;
  REQUIRE(test::write_rows(*RowLog::create(dir.path("rows"), small()).value(), {3}, 1));
  auto log = RowLog::create(dir.path("rows"), small()).value();
  const auto lost = test::read_rows(*log, {3});
  REQUIRE_FALSE(lost);
  CHECK(lost.error().code == Code::kCorrupt);
  CHECK_THAT(lost.error().message, Catch::Contains("row 3"));
}

TEST_CASE("a full disk is a lasting error that names the folder", "[store]") {
  const test::TempDir dir;
  auto log = RowLog::create(dir.path("rows"), small()).value();
  const auto numbers = test::first_numbers(kRows);
  Status written;
  {
    const test::FileLimit limit(8 << 10);
    // The memory for unwritten rows is bounded, so the disk has to be used before long.
    for (std::uint64_t round = 0; round < 2000 && written; ++round) {
      written = test::write_rows(*log, numbers, round);
    }
  }
  REQUIRE_FALSE(written);
  CHECK(written.error().code == Code::kUnavailable);
  CHECK_THAT(written.error().message, Catch::Contains(dir.path("rows")));
  CHECK(log->link(dir.path("linked")).error() == written.error());
}

TEST_CASE("a scan reads the linked rows, each once, and leaves the folder as it is", "[store]") {
  const test::TempDir temp;
  {
    auto log = RowLog::create(temp.path("live"), small()).value();
    REQUIRE(test::write_rows(*log, {1, 300, 999}, 7));
    REQUIRE(log->link(temp.path("before")));
    REQUIRE(test::write_rows(*log, {300}, 8));
    REQUIRE(log->link(temp.path("linked")));
  }
  const auto before = files_in(temp.path("linked"));
  std::multimap<std::uint64_t, std::uint64_t> seen;
  REQUIRE(RowLog::scan(temp.path("linked"), small(), [&](auto number, auto row) -> Status {
    seen.emplace(number, test::value_in(number, row));
    return {};
  }));
  CHECK(seen == std::multimap<std::uint64_t, std::uint64_t>{{1, 7}, {300, 8}, {999, 7}});
  CHECK(files_in(temp.path("linked")) == before);
  const auto nothing = [](auto, auto) -> Status { return {}; };
  const auto refusal = [&](const std::string& folder, const RowLog::Options& options) {
    const auto scanned = RowLog::scan(folder, options, nothing);
    REQUIRE_FALSE(scanned);
    return scanned.error().message;
  };
  CHECK_THAT(refusal(temp.path("linked"), {.row_bytes = kRow + 1, .most_rows = kRows}),
             Catch::Contains("of another size: 24 bytes, not 25"));
  CHECK_THAT(refusal(temp.path("linked"), {.row_bytes = kRow, .most_rows = 999}),
             Catch::Contains("has row 999, which the tables have not"));
  CHECK_THAT(refusal(temp.path("nowhere"), small()), Catch::Contains(temp.path("nowhere")));
}

TEST_CASE("every operation that reads a damaged page names it", "[store]") {
  const test::TempDir dir;
  {
    auto log = RowLog::create(dir.path("live"), small()).value();
    REQUIRE(test::write_rows(*log, test::first_numbers(kRows), 7));
    REQUIRE(log->link(dir.path("linked")));
  }
  const fs::path file = files_in(dir.path("linked")).front();
  std::string content = dir.read("linked/" + file.filename().string());
  content[4096 + 2000] ^= 1;  // in its second page
  fs::remove(file);
  dir.write("linked/" + file.filename().string(), content);
  const auto check_name = [&](const std::string& message) {
    CHECK_THAT(message, Catch::Contains(file.filename().string()));
    CHECK_THAT(message, Catch::Contains("is damaged: page 1 has changed"));
  };
  auto log = RowLog::create(dir.path("again"), small(), dir.path("linked")).value();
  SECTION("a reader") {
    const auto read = test::read_rows(*log, test::first_numbers(kRows));
    REQUIRE_FALSE(read);
    CHECK(read.error().code == Code::kCorrupt);
    check_name(read.error().message);
  }
  SECTION("a scan") {
    const auto scanned =
        RowLog::scan(dir.path("linked"), small(), [](auto, auto) -> Status { return {}; });
    REQUIRE_FALSE(scanned);
    check_name(scanned.error().message);
  }
  SECTION("cleaning, with the error returned to a later write") {
    // Row 130, on that page, is the last of its segment: cleaning it gains most.
    Random random(1);
    test::RowModel all;
    for (const std::uint64_t number : test::first_numbers(kRows)) all[number] = 8;
    all.erase(130);
    Status written = test::write_rows(*log, all);
    for (std::uint64_t round = 0; round < 100'000 && written; ++round) {
      test::RowModel changed = some(random, kRows, 80, round);
      changed.erase(130);
      written = test::write_rows(*log, changed);
    }
    REQUIRE_FALSE(written);
    check_name(written.error().message);
  }
}

TEST_CASE("a file that is not a segment is refused by name", "[store]") {
  const test::TempDir dir;
  const auto refusal = [&] {
    const auto log = RowLog::create(dir.path("rows"), small(), dir.path("from"));
    REQUIRE_FALSE(log);
    CHECK(log.error().code == Code::kCorrupt);
    return log.error().message;
  };
  SECTION("tables of an older form") {
    dir.write("from/000012.sst", "sorted");
    CHECK_THAT(refusal(), Catch::Contains("from/000012.sst") && Catch::Contains("RocksDB"));
  }
  SECTION("another file") {
    dir.write("from/notes.txt", "");
    CHECK_THAT(refusal(), Catch::Contains("from/notes.txt is no file of rows"));
  }
  SECTION("a segment under another segment's name") {
    auto log = RowLog::create(dir.path("live"), small()).value();
    REQUIRE(test::write_rows(*log, {1}, 1));
    REQUIRE(log->link(dir.path("from")));
    fs::rename(files_in(dir.path("from")).front(), dir.path("from/" + segment_name(9)));
    CHECK_THAT(refusal(), Catch::Contains(segment_name(9)));
  }
}

TEST_CASE("segments of a log for more rows, and more segments than a log has, are refused",
          "[store]") {
  const test::TempDir dir;
  const std::string from = dir.path("from");
  std::string words;
  SECTION("larger ones") {
    // 500,000 rows make segments of 41 pages, 1,000 rows of 16; these rows take 32.
    auto log = RowLog::create(dir.path("rows"), {.row_bytes = kRow, .most_rows = 500'000}).value();
    for (int copy = 0; copy < 4; ++copy) {
      REQUIRE(test::write_rows(*log, test::first_numbers(kRows - copy), 1));
    }
    REQUIRE(log->link(from));
    words = "is not the file of rows that its name says";
  }
  SECTION("too many") {
    for (std::uint64_t number = 1; number <= RowLogPlan::kMostSegments + 1; ++number) {
      dir.write("from/" + segment_name(number), "");
    }
    words = "has 257 files of rows, more than 256";
  }
  const auto refused = RowLog::create(dir.path("other"), small(), from);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Code::kCorrupt);
  CHECK_THAT(refused.error().message, Catch::EndsWith(words));
}

TEST_CASE("the memory that a log takes follows its rows", "[store]") {
  // 2^20 · 26 rows in three bytes each, and at most 16 MiB beside that.
  constexpr std::uint64_t kAll = std::uint64_t{26} << 20;
  const std::uint64_t bytes = RowLog::memory_bytes({.row_bytes = 256, .most_rows = kAll});
  CHECK(bytes > 3 * kAll);
  CHECK(bytes < 3 * kAll + (std::uint64_t{16} << 20));
}
