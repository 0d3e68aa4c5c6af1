#include "core/store/rocks_rows.h"

#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <map>
#include <vector>

#include "core/base/random.h"
#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

using namespace forebay;

namespace {

constexpr std::size_t kRow = 24;

RocksRows::Options small() { return {.row_bytes = kRow, .most_rows = 1000}; }

/// Rows whose bytes are all `value`, one for each number.
std::vector<std::byte> filled(std::size_t count, int value) {
  return std::vector<std::byte>(count * kRow, static_cast<std::byte>(value));
}

std::map<std::uint64_t, int> read_all(const RocksRows& rows,
                                      const std::vector<std::uint64_t>& numbers) {
  std::vector<int> first(numbers.size(), -1);
  REQUIRE(rows.read(numbers, [&](std::size_t place, std::span<const std::byte> row) {
    first[place] = static_cast<int>(row[kRow - 1]);
  }));
  std::map<std::uint64_t, int> found;
  for (std::size_t i = 0; i < numbers.size(); ++i) found[numbers[i]] = first[i];
  return found;
}

/// Files may not grow beyond so many bytes while it lives.
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now = {bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &now);
  }
  ~FileLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

 private:
  void (*handler_)(int);
  rlimit before_ = {};
};

}  // namespace

TEST_CASE("rows are read as they were last written", "[store]") {
  const test::TempDir dir;
  auto rows = RocksRows::create(dir.path("rows"), small());
  REQUIRE(rows);
  Random random(1);
  std::map<std::uint64_t, int> model;
  for (int round = 1; round < 60; ++round) {
    std::map<std::uint64_t, int> changed;
    for (int i = 0; i < 80; ++i) changed[random.below(1000)] = round;
    std::vector<std::uint64_t> numbers;
    for (const auto& [number, value] : changed) numbers.push_back(number);
    REQUIRE((*rows)->write(numbers, filled(numbers.size(), round)));
    for (const auto& [number, value] : changed) model[number] = value;
  }
  std::vector<std::uint64_t> numbers;
  for (const auto& [number, value] : model) numbers.push_back(number);
  CHECK(read_all(**rows, numbers) == model);
}

TEST_CASE("links hold the rows of their moment, and are opened without being changed", "[store]") {
  const test::TempDir dir;
  auto rows = RocksRows::create(dir.path("rows"), small());
  REQUIRE(rows);
  const std::vector<std::uint64_t> numbers = {3, 700};
  REQUIRE((*rows)->write(numbers, filled(2, 1)));
  REQUIRE((*rows)->link(dir.path("linked")));
  REQUIRE((*rows)->write(numbers, filled(2, 2)));
  for (int time = 0; time < 2; ++time) {
    auto again = RocksRows::create(dir.path("again"), small(), dir.path("linked"));
    REQUIRE(again);
    CHECK(read_all(**again, numbers) == std::map<std::uint64_t, int>{{3, 1}, {700, 1}});
    REQUIRE((*again)->write(numbers, filled(2, 3)));
  }
  CHECK(read_all(**rows, numbers) == std::map<std::uint64_t, int>{{3, 2}, {700, 2}});
}

TEST_CASE("a folder is emptied when rows begin anew", "[store]") {
  const test::TempDir dir;
  const std::vector<std::uint64_t> numbers = {3};
  {
    auto rows = RocksRows::create(dir.path("rows"), small());
    REQUIRE(rows);
    REQUIRE((*rows)->write(numbers, filled(1, 1)));
  }
  auto rows = RocksRows::create(dir.path("rows"), small());
  REQUIRE(rows);
  const auto lost = (*rows)->read(numbers, [](std::size_t, std::span<const std::byte>) {});
  REQUIRE_FALSE(lost);
  CHECK(lost.error().code == Code::kCorrupt);
  CHECK_THAT(lost.error().message, Catch::Contains("row 3"));
}

TEST_CASE("a disk that takes no more is an error that names the folder", "[store]") {
  const test::TempDir dir;
  auto rows = RocksRows::create(dir.path("rows"), small());
  REQUIRE(rows);
  const FileLimit limit(8 << 10);
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t number = 0; number < 1000; ++number) numbers.push_back(number);
  Status written;
  // What waits in memory is bounded, so the disk has to be asked after some megabytes.
  for (int round = 0; round < 2000 && written; ++round) {
    written = (*rows)->write(numbers, filled(numbers.size(), round % 100));
  }
  REQUIRE_FALSE(written);
  CHECK(written.error().code == Code::kUnavailable);
  CHECK_THAT(written.error().message, Catch::Contains(dir.path("rows")));
}

TEST_CASE("a scan reads what was linked, by number, and leaves the folder as it is",
          "[core][store]") {
  const test::TempDir temp;
  {
    auto rows = RocksRows::create(temp.path("live"), small()).value();
    const std::vector<std::uint64_t> numbers = {1, 300, 70000};
    REQUIRE(rows->write(numbers, filled(3, 7)));
    REQUIRE(rows->write(std::span(numbers).subspan(1, 1), filled(1, 8)));
    REQUIRE(rows->link(temp.path("linked")));
  }
  const auto names = [&] {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(temp.path("linked"))) {
      found.push_back(entry.path().filename().string());
    }
    std::ranges::sort(found);
    return found;
  };
  const auto before = names();
  std::vector<std::pair<std::uint64_t, int>> seen;
  REQUIRE(RocksRows::scan(temp.path("linked"), kRow, [&](auto number, auto row) -> Status {
    seen.emplace_back(number, static_cast<int>(row[kRow - 1]));
    return {};
  }));
  CHECK(seen == std::vector<std::pair<std::uint64_t, int>>{{1, 7}, {300, 8}, {70000, 7}});
  CHECK(names() == before);
  const auto nothing = [](auto, auto) -> Status { return {}; };
  const auto other = RocksRows::scan(temp.path("linked"), kRow + 1, nothing);
  REQUIRE_FALSE(other);
  CHECK(other.error().code == Code::kCorrupt);
  CHECK_FALSE(RocksRows::scan(temp.path("nowhere"), kRow, nothing));
}
