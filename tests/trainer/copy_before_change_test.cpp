#include "trainer/state/copy_before_change.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include "core/base/random.h"
#include "tests/support/wait_until.h"

#include "tests/support/catch.h"

using namespace forebay;

namespace {

/// GuardedRows of four integers, each of them the row's number, in groups of two rows.
struct GuardedRows {
  static constexpr std::size_t kRowBytes = 4 * sizeof(std::uint32_t);

  explicit GuardedRows(std::size_t rows, std::size_t slots = 64)
      : values(4 * rows), room(2 * kRowBytes, slots * 2 * kRowBytes) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint32_t>(i / 4);
  }

  void change(std::size_t row) {
    guard.before_change(row);
    for (std::size_t i = 0; i < 4; ++i) values[4 * row + i] += 1000;
  }
  std::vector<std::uint32_t> read(std::size_t first, std::size_t count) {
    std::vector<std::uint32_t> got(count);
    guard.read(first * sizeof(std::uint32_t), std::as_writable_bytes(std::span(got)));
    return got;
  }

  std::vector<std::uint32_t> values;
  CopyRoom room;
  CopyBeforeChange guard{std::as_bytes(std::span(values)), kRowBytes, room};
};

}  // namespace

TEST_CASE("a snapshot reads the values from its beginning while rows change",
          "[trainer][snapshot]") {
  GuardedRows rows(5);
  const auto before = rows.values;
  rows.guard.begin();
  rows.change(0);
  rows.change(0);
  rows.change(4);
  CHECK(rows.read(0, 20) == before);
  rows.guard.end();
  CHECK(rows.values[0] == 2000);
  CHECK(rows.values[4 * 4] == 1004);
}

TEST_CASE("a group that was partly read keeps the old values of the rest", "[trainer][snapshot]") {
  GuardedRows rows(4);
  rows.guard.begin();
  CHECK(rows.read(0, 3) == std::vector<std::uint32_t>{0, 0, 0});
  rows.change(0);
  rows.change(1);
  CHECK(rows.read(3, 2) == std::vector<std::uint32_t>{0, 1});
  rows.change(3);
  CHECK(rows.read(5, 11) == std::vector<std::uint32_t>{1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3});
  rows.guard.end();
}

TEST_CASE("only groups that are not read yet are copied, each once", "[trainer][snapshot]") {
  GuardedRows rows(8);
  rows.change(0);
  CHECK(rows.room.most_bytes() == 0);
  rows.guard.begin();
  static_cast<void>(rows.read(0, 8));
  rows.change(0);
  CHECK(rows.room.most_bytes() == 0);
  const std::vector<std::int32_t> many = {4, 5, 4, 2};
  rows.guard.before_change(std::span<const std::int32_t>(many));
  CHECK(rows.room.most_bytes() == 2 * 2 * GuardedRows::kRowBytes);
  rows.guard.end();
}

TEST_CASE("a second snapshot reuses the buffer of the first", "[trainer][snapshot]") {
  GuardedRows rows(8, 1);
  for (int turn = 0; turn < 3; ++turn) {
    const auto before = rows.values;
    rows.guard.begin();
    rows.change(6);  // Without a reader a second copy would wait forever.
    if (turn == 1) CHECK(rows.read(0, 32) == before);
    rows.guard.end();
  }
  CHECK(rows.room.most_bytes() == 2 * GuardedRows::kRowBytes);
}

TEST_CASE("a writer without memory for a copy waits until the reader has passed its row",
          "[trainer][snapshot]") {
  GuardedRows rows(8, 1);
  rows.guard.begin();
  rows.change(6);
  std::atomic<bool> changed{false};
  std::thread writer([&] {
    rows.change(2);
    changed = true;
  });
  CHECK(rows.read(0, 8) == std::vector<std::uint32_t>{0, 0, 0, 0, 1, 1, 1, 1});
  CHECK_FALSE(changed);
  CHECK(rows.read(8, 8) == std::vector<std::uint32_t>{2, 2, 2, 2, 3, 3, 3, 3});
  test::wait_until([&] { return changed.load(); });
  CHECK(rows.read(16, 16) ==
        std::vector<std::uint32_t>{4, 4, 4, 4, 5, 5, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7});
  rows.guard.end();
  writer.join();
}

TEST_CASE("a reader that gives up releases a waiting writer", "[trainer][snapshot]") {
  GuardedRows rows(8, 1);
  rows.guard.begin();
  rows.change(6);
  std::thread writer([&] { rows.change(2); });
  rows.guard.end();
  writer.join();
  CHECK(rows.values[4 * 2] == 1002);
}

TEST_CASE("a snapshot read while threads change everything is the state at its moment",
          "[trainer][snapshot]") {
  const auto seed = GENERATE(range(std::uint64_t{1}, std::uint64_t{9}));
  constexpr std::size_t kRows = 3000;
  constexpr std::size_t kThreads = 3;
  GuardedRows rows(kRows, 1 + seed * seed);  // At first so few free bytes that writers wait.
  for (int turn = 0; turn < 4; ++turn) {
    const auto before = rows.values;
    rows.guard.begin();
    std::vector<std::thread> writers;
    for (std::size_t thread = 0; thread < kThreads; ++thread) {
      writers.emplace_back([&, thread] {
        Random random(mix64(seed, thread));
        for (std::size_t i = 0; i < kRows; ++i) {
          // Each thread has rows of its own; groups are shared.
          rows.change(random.below(kRows / kThreads) * kThreads + thread);
        }
      });
    }
    Random random(seed);
    std::vector<std::uint32_t> got;
    while (got.size() < before.size()) {
      const auto next = rows.read(
          got.size(), std::min<std::size_t>(1 + random.below(900), before.size() - got.size()));
      got.insert(got.end(), next.begin(), next.end());
    }
    CHECK(got == before);
    rows.guard.end();
    for (std::thread& writer : writers) writer.join();
  }
}
