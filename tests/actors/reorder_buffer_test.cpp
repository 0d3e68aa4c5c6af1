#include "actors/reorder_buffer.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "tests/support/columns.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using Mode = OrderSpec::Mode;

/// A job of `kSplits` splits a epoch, split i holding (i * 7) % 11 rows, numbered through.
constexpr std::size_t kSplits = 13;
constexpr std::size_t rows_in(std::size_t split) { return split * 7 % 11; }
constexpr std::size_t first_row(std::size_t split) {
  std::size_t first = 0;
  for (std::size_t i = 0; i < split; ++i) first += rows_in(i);
  return first;
}
constexpr std::size_t kRows = first_row(kSplits);

struct Collected final : BatchSink {
  std::vector<std::shared_ptr<const Batch>> batches;
  std::vector<BadRow> bad;
  RepeatCount repeats;
  std::size_t batched_splits = 0;
  std::size_t stop_after = ~std::size_t{0};

  bool emit(std::shared_ptr<const Batch> batch) override {
    batches.push_back(std::move(batch));
    return batches.size() < stop_after;
  }
  void batched(const SplitId&, bool is_last) override { batched_splits += is_last ? 1 : 0; }
  void repeated(const std::vector<RepeatCount>& groups) override { repeats += groups.front(); }
  Status damaged(const std::vector<BadRow>& rows) override {
    bad.insert(bad.end(), rows.begin(), rows.end());
    return {};
  }
  Error newly_damaged(const BadRow& row, const std::string& node) override {
    return {Code::kCorrupt, "line " + std::to_string(row.line) + " by " + node};
  }
  std::vector<std::string> rows() const {
    std::vector<std::string> all;
    for (const auto& batch : batches) {
      const auto more = test::rows_of(*batch);
      all.insert(all.end(), more.begin(), more.end());
    }
    return all;
  }
};

struct Job {
  MemoryBudget budget{1 << 30};
  BufferPool pool{budget};
  OrderSpec order;
  std::size_t lanes = 1;

  Job() {
    order.batch_size = 8;
    order.epochs = 2;
  }

  Split split(std::uint64_t number) {
    Split made;
    made.id.number = number;
    made.id.epoch = number / kSplits;
    made.id.index = number % kSplits;
    made.columns = test::numbered_rows(first_row(made.id.index), rows_in(made.id.index), pool);
    if (made.id.index == 4)
      made.bad.push_back({.file = 0, .offset = 44, .line = 4, .reason = "bad", .text = ""});
    made.filtered = 2;
    made.repeats.push_back({.rows = 4, .unique = 2, .bytes = number});
    return made;
  }

  /// The numbers of the splits that a run from `start` needs.
  std::vector<std::uint64_t> needed(const Position& start) const {
    std::vector<std::uint64_t> numbers;
    const std::uint64_t begin = start.epoch * kSplits + start.split;
    for (std::uint64_t number = begin; number < order.epochs * kSplits; ++number) {
      const auto distance = static_cast<std::uint32_t>(number - begin);
      if (std::find(start.ahead.begin(), start.ahead.end(), distance) == start.ahead.end())
        numbers.push_back(number);
    }
    return numbers;
  }

  /// Runs the rest of the job with splits that arrive near their turn, in an order drawn by `seed`.
  Position run(Collected& to, const Position& start, std::uint64_t seed) {
    ReorderBuffer reorder_buffer(order, {.splits = kSplits, .lanes = lanes}, start, pool, to);
    auto numbers = needed(start);
    Random random(seed);
    for (std::size_t i = 0; i + 1 < numbers.size() && seed != 0; ++i) {
      std::swap(numbers[i], numbers[std::min(numbers.size() - 1, i + random.below(6))]);
    }
    for (const std::uint64_t number : numbers) {
      REQUIRE(reorder_buffer.add(split(number)));
      if (to.batches.size() >= to.stop_after) return to.batches.back()->after;
    }
    CHECK(reorder_buffer.finished());
    return reorder_buffer.position();
  }
};

TEST_CASE("batches are full but for the last of an epoch, and none spans two epochs",
          "[actors][batcher]") {
  Job job;
  Collected got;
  job.run(got, {}, 0);
  // 13 splits of (7 i mod 11) rows hold 62 rows: 7 full batches and one of 6, twice.
  REQUIRE(kRows == 62);
  REQUIRE(got.batches.size() == 16);
  for (std::size_t i = 0; i < got.batches.size(); ++i) {
    CHECK(got.batches[i]->rows == (i % 8 == 7 ? 6 : 8));
    CHECK(got.batches[i]->number == i);
  }
  CHECK(got.batched_splits == 2 * kSplits);
  CHECK(got.repeats.rows == 4 * 2 * kSplits);
}

TEST_CASE("a split with fewer rows than were given out of it ends the run", "[actors][batcher]") {
  Job job;
  for (const std::uint64_t rows : {rows_in(1), rows_in(1) + 1}) {
    Position start;
    start.split = start.open_split = 1;
    start.split_rows = rows;
    Collected got;
    ReorderBuffer reorder_buffer(job.order, {.splits = kSplits}, start, job.pool, got);
    const auto refused = reorder_buffer.add(job.split(1));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == Code::kCorrupt);
    CHECK_THAT(refused.error().message, Catch::Contains("split_rows is " + std::to_string(rows) +
                                                        ", but split 1 of epoch 0 has 7 sound"));
    CHECK(got.batches.empty());
  }
}

TEST_CASE("an epoch that leaves out other rows than the first ends the run", "[actors][batcher]") {
  Job job;
  Collected got;
  ReorderBuffer reorder_buffer(job.order, {.splits = kSplits}, {}, job.pool, got);
  for (std::uint64_t number = 0; number + 1 < 2 * kSplits; ++number) {
    REQUIRE(reorder_buffer.add(job.split(number)));
  }
  Split last = job.split(2 * kSplits - 1);
  last.filtered = 3;
  const auto refused = reorder_buffer.add(std::move(last));
  REQUIRE_FALSE(refused);
  // Each epoch: one damaged row, and two held out of each of 13 splits.
  CHECK_THAT(refused.error().message,
             Catch::StartsWith(
                 "epoch 1 left out 28 rows (damaged, held out, not sampled), the first epoch 27"));
}

TEST_CASE("drop_last leaves out the rows that fill no batch, in every epoch", "[actors][batcher]") {
  Job job;
  job.order.drop_last = true;
  Collected got;
  const Position end = job.run(got, {}, 0);
  CHECK(got.batches.size() == 14);
  CHECK(end.rows == 112);
  CHECK(end.epoch == 2);
}

TEST_CASE("a whole epoch without a batch ends a stream of epochs without an end",
          "[actors][batcher]") {
  Job job;
  job.order.batch_size = 63;
  job.order.drop_last = true;
  const auto run = [&job](const Position& start, std::uint64_t epochs) {
    Collected got;
    OrderSpec order = job.order;
    order.epochs = epochs;
    ReorderBuffer reorder_buffer(order, {.splits = kSplits}, start, job.pool, got);
    Status status;
    for (const std::uint64_t number : job.needed(start)) {
      if (status) status = reorder_buffer.add(job.split(number));
    }
    CHECK(got.batches.empty());
    return status;
  };
  SECTION("the rows that remain are fewer than a batch") {
    const Status ended = run({}, OrderSpec::kEndless);
    REQUIRE_FALSE(ended);
    CHECK(ended.error() ==
          Error{Code::kInvalid,
                "no batch can be made: order.drop_last leaves out an epoch's last batch, and the "
                "62 rows that remain of it are fewer than order.batch_size = 63"});
  }
  SECTION("the epochs of a job may have none") {
    Position start;
    start.split = start.open_split = 5;
    start.bad_rows = 1;
    start.held_out = 10;
    start.left_out = 11;
    CHECK_FALSE(run(start, OrderSpec::kEndless));  // with the whole epoch behind it
    CHECK(run(start, 2));
    CHECK(run({}, 2));
  }
}

TEST_CASE("an epoch of which no row remains ends a stream of epochs without an end",
          "[actors][batcher]") {
  Job job;
  job.order.epochs = OrderSpec::kEndless;
  Collected got;
  ReorderBuffer reorder_buffer(job.order, {.splits = 2}, {}, job.pool, got);
  const auto empty_split = [](std::uint64_t number) {
    Split made;
    made.id.number = made.id.index = number;
    made.sampled = 7;
    return made;
  };
  REQUIRE(reorder_buffer.add(empty_split(0)));
  const Status ended = reorder_buffer.add(empty_split(1));
  REQUIRE_FALSE(ended);
  CHECK(ended.error() ==
        Error{Code::kInvalid,
              "dataset.paths: no row remains of an epoch: 0 are damaged, 0 held out by "
              "trainer.evaluate_share, 14 left out by the operator sampling"});
}

TEST_CASE("in exact order the batches do not depend on the order in which splits come",
          "[actors][batcher]") {
  Job job;
  Collected in_order;
  const Position end = job.run(in_order, {}, 0);
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Collected mixed;
    INFO("seed " << seed);
    CHECK(job.run(mixed, {}, seed) == end);
    CHECK(mixed.rows() == in_order.rows());
  }
  CHECK(end.bad_rows == 1);
  CHECK(end.held_out == 2 * kSplits);
  CHECK(in_order.bad.size() == 1);
}

TEST_CASE("a run that stops after any batch and goes on ends with the same digest",
          "[actors][batcher]") {
  Job job;
  job.lanes = GENERATE(1, 4, 8);
  job.order.drop_last = GENERATE(false, true);
  Collected whole;
  const Position end = job.run(whole, {}, 3);
  for (std::size_t stop = 1; stop < whole.batches.size(); ++stop) {
    Collected first;
    first.stop_after = stop;
    const Position position = job.run(first, {}, stop);
    REQUIRE(first.batches.size() == stop);
    Collected rest;
    INFO("stopped after " << stop);
    CHECK(job.run(rest, position, stop + 1) == end);
    CHECK(first.batches.size() + rest.batches.size() == whole.batches.size());
  }
}

TEST_CASE("in arrival order every row comes once an epoch, however often the run stops",
          "[actors][batcher]") {
  Job job;
  job.order.mode = Mode::kArrival;
  job.lanes = GENERATE(1, 2);
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    std::map<std::string, int> seen;
    Position position;
    std::size_t rows = 0;
    while (position.epoch < job.order.epochs) {
      Collected part;
      part.stop_after = 1 + random.below(5);
      position = job.run(part, position, random.next());
      for (const std::string& row : part.rows()) ++seen[row];
      rows += part.rows().size();
      if (part.batches.empty()) break;
    }
    CHECK(rows == 2 * kRows);
    CHECK(seen.size() == kRows);
    for (const auto& [row, times] : seen) CHECK(times == 2);
  }
}

TEST_CASE("a row that is damaged in a later epoch only ends the run and is named",
          "[actors][batcher]") {
  Job job;
  const BadRow other{.file = 0, .offset = 55, .line = 5, .reason = "bad", .text = ""};
  const auto run = [&](const Position& start, std::uint64_t first, std::uint64_t damaged) {
    Collected got;
    ReorderBuffer reorder_buffer(job.order, {.splits = kSplits}, start, job.pool, got);
    Status status;
    for (std::uint64_t number = first; number < 2 * kSplits && status; ++number) {
      Split split = job.split(number);
      if (number == damaged) split.bad.push_back(other);
      split.node = "w1";
      status = reorder_buffer.add(std::move(split));
    }
    return status;
  };
  const auto refused = run({}, 0, kSplits + 7);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message == "line 5 by w1");

  SECTION("with unknown rows of the first epoch, the epochs' counts differ") {
    Position later;  // From another run, which found no damaged row.
    later.epoch = 1;
    const auto uneven = run(later, kSplits, kSplits + 7);
    REQUIRE_FALSE(uneven);
    CHECK_THAT(uneven.error().message, Catch::Contains("epoch 1"));
  }
  SECTION("the counts differ when a row was damaged in the first epoch only") {
    CHECK_FALSE(run({}, 0, 7));
  }
}

TEST_CASE("damaged rows beyond the kept places name no row", "[actors][batcher]") {
  DamagedRows rows(true);
  const auto row = [](std::uint64_t offset) {
    return BadRow{.file = 0, .offset = offset, .line = 1, .reason = "bad", .text = ""};
  };
  for (std::uint64_t i = 0; i < DamagedRows::kMost; ++i) rows.add({row(i)});
  CHECK(rows.first_other({row(3)}) == nullptr);
  CHECK(rows.first_other({row(3), row(1'000'000)}) != nullptr);
  rows.add({row(DamagedRows::kMost)});
  CHECK(rows.first_other({row(1'000'000)}) == nullptr);
}

TEST_CASE("a run that stops before it gave anything out keeps its start", "[actors][batcher]") {
  Job job;
  Collected first;
  first.stop_after = 3;
  const Position position = job.run(first, {}, 0);
  REQUIRE(position.split_rows > 0);
  Collected nothing;
  const ReorderBuffer reorder_buffer(job.order, {.splits = kSplits}, position, job.pool, nothing);
  CHECK(reorder_buffer.position() == position);
}

}  // namespace
}  // namespace forebay
