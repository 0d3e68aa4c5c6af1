#include <cstring>
#include <vector>

#include "tests/support/temp_dir.h"
#include "trainer/embedding/tiered/disk_rows.h"

#include "tests/support/catch.h"

using namespace forebay;

namespace {

constexpr std::size_t kFetchedWidth = 3;
constexpr std::size_t kState = 2;
constexpr std::size_t kSlots = 8;

/// Rows 0 to `rows` - 1 of a log; each value of a row is its number.
struct Disk {
  explicit Disk(std::uint64_t rows) {
    std::vector<std::uint64_t> numbers;
    for (std::uint64_t number = 0; number < rows; ++number) numbers.push_back(number);
    REQUIRE(log->write(numbers, [](std::size_t place, std::span<std::byte> row) {
      const std::vector<float> values(kFetchedWidth + kState, static_cast<float>(place));
      std::memcpy(row.data(), values.data(), row.size());
    }));
  }

  test::TempDir dir;
  std::unique_ptr<RowLog> log =
      RowLog::create(dir.path("log"),
                     {.row_bytes = (kFetchedWidth + kState) * sizeof(float), .most_rows = 100})
          .value();
};

/// Slots that rows are fetched into.
struct Fetching {
  std::vector<float> values_in(std::size_t slot) const {
    std::vector<float> values(arena.weights(slot), arena.weights(slot) + kFetchedWidth);
    values.insert(values.end(), arena.state(slot), arena.state(slot) + kState);
    return values;
  }

  CopyRoom room{4096, 4096};
  RowArena arena{kSlots, kFetchedWidth, kState, room};
  RowFetcher fetcher{arena};
};

}  // namespace

TEST_CASE("rows are in their slots once their turn was awaited, more turns than are under way",
          "[trainer][embedding]") {
  const Disk disk(100);
  Fetching into;
  RowFetcher& fetcher = into.fetcher;
  fetcher.read_from(*disk.log);
  for (std::uint64_t turn = 1; turn <= 5; ++turn) {
    fetcher.wait_for_turn();
    fetcher.fetch({.turn = turn, .numbers = {turn, 10 * turn}, .slots = {0, 7}, .times = {2, 1}});
    CHECK(fetcher.awaited(turn) <= 3);
  }
  REQUIRE(fetcher.await(5));
  for (std::uint64_t turn = 1; turn <= 6; ++turn) CHECK(fetcher.awaited(turn) == 0);
  CHECK(into.values_in(0) == std::vector<float>(kFetchedWidth + kState, 5));
  CHECK(into.values_in(7) == std::vector<float>(kFetchedWidth + kState, 50));
}

TEST_CASE(
    "a row that cannot be fetched fails all later turns until the rows are read from elsewhere",
    "[trainer][embedding]") {
  const Disk without(10);
  const Disk whole(100);
  Fetching into;
  RowFetcher& fetcher = into.fetcher;
  fetcher.read_from(*without.log);
  fetcher.fetch({.turn = 1, .numbers = {50}, .slots = {1}, .times = {1}});
  fetcher.fetch({.turn = 2, .numbers = {5}, .slots = {2}, .times = {1}});
  const auto lost = fetcher.await(2);
  REQUIRE_FALSE(lost);
  CHECK_THAT(lost.error().message, Catch::Contains("lost row 50"));
  CHECK(into.values_in(2) == std::vector<float>(kFetchedWidth + kState, 0));
  fetcher.read_from(*whole.log);
  fetcher.fetch({.turn = 3, .numbers = {50}, .slots = {1}, .times = {1}});
  REQUIRE(fetcher.drain());
  CHECK(into.values_in(1) == std::vector<float>(kFetchedWidth + kState, 50));
}

TEST_CASE("a fetch that crashes loses its rows as an error, and the next disk is read from",
          "[trainer][embedding]") {
  const Disk disk(100);
  Fetching into;
  RowFetcher& fetcher = into.fetcher;
  fetcher.read_from(*disk.log);
  fetcher.fetch({.turn = 1, .numbers = {50}, .slots = {}, .times = {}});  // a row without a slot
  fetcher.fetch({.turn = 2, .numbers = {5}, .slots = {2}, .times = {1}});
  const auto lost = fetcher.await(2);
  REQUIRE_FALSE(lost);
  CHECK_THAT(lost.error().message, Catch::StartsWith("reading rows ahead failed: "));
  CHECK(into.values_in(2) == std::vector<float>(kFetchedWidth + kState, 0));
  fetcher.read_from(*disk.log);
  fetcher.fetch({.turn = 3, .numbers = {50}, .slots = {1}, .times = {1}});
  REQUIRE(fetcher.await(3));
  CHECK(into.values_in(1) == std::vector<float>(kFetchedWidth + kState, 50));
}
