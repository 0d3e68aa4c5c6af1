#include "actors/stage/split_frames.h"

#include "actors/stage/batch_digest.h"
#include "actors/stage/batcher.h"
#include "tests/support/any_columns.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

const SplitTimes kTwoStages{.stages = {{}, {}}};

struct Wire {
  MemoryBudget budget{std::size_t{1} << 30};
  BufferPool pool{budget};

  Result<Split> travel(const Split& split, const PackOptions& options) {
    const SplitLimits limits{.columns = {.max_rows = 1'000'000,
                                         .dense = split.columns.dense.size(),
                                         .sparse = split.columns.sparse.size(),
                                         .max_bytes = 1 << 26,
                                         .weights = split.columns.weights != nullptr,
                                         .extras = split.columns.extras.size()},
                             .files = 3,
                             .stages = 2};
    auto parts = unpack_split(pack_split(split, options, pool), limits, pool);
    if (!parts) return pass(parts);
    return std::move(parts->front());
  }
};

std::string bytes_of(const Batch& batch) {
  const auto part = [](const auto* data, std::size_t count) {
    return std::string(reinterpret_cast<const char*>(data), count * sizeof(*data)) + "|";
  };
  const std::size_t lists = batch.rows * batch.sparse_features;
  return part(batch.labels, batch.rows) + part(batch.dense, batch.rows * batch.dense_features) +
         part(batch.lengths, lists) + part(batch.ids, batch.num_ids) +
         part(batch.weights, batch.weights == nullptr ? 0 : batch.rows) +
         part(batch.extras, batch.rows * batch.extra_columns);
}

/// The rows of seven splits as batches; those of `by_wire` travel first.
template <class ByWire>
std::vector<std::string> batches(std::uint64_t seed, ByWire by_wire) {
  Wire wire;
  Random random(seed);
  Random choice(seed);
  auto shape = test::any_shape(random);
  const std::size_t lanes = std::size_t{1} << random.below(5);
  Batcher batcher(lanes * (1 + random.below(9)), wire.pool, lanes);
  batcher.skip(random.below(shape.rows + 1));
  for (std::uint64_t number = 0; number < 7; ++number) {
    shape.rows = random.below(120);
    Split split{{.number = number}, test::any_columns(random, shape, wire.pool), {}, 0, kTwoStages};
    if (by_wire(number)) {
      PackOptions options;
      options.compression = static_cast<Compression>(choice.below(3));
      auto came = wire.travel(split, options);
      REQUIRE(came);
      split.columns = std::move(came->columns);
    }
    batcher.add(std::move(split.columns));
  }
  std::vector<std::string> found;
  while (batcher.rows() > 0) {
    const Batch batch = batcher.cut();
    found.push_back(bytes_of(batch) + digest_of(batch).hex());
  }
  return found;
}

TEST_CASE("batches are the same bytes whether splits came by wire or not",
          "[actors][split_frames]") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    INFO("seed " << seed);
    const auto local = batches(seed, [](std::uint64_t) { return false; });
    CHECK(local == batches(seed, [](std::uint64_t) { return true; }));
    CHECK(local == batches(seed, [](std::uint64_t number) { return number % 2 == 0; }));
  }
}

TEST_CASE("a split brings its number, its counts and its damaged rows", "[actors][split_frames]") {
  Wire wire;
  Random random(3);
  Split split{{.number = 42}, test::any_columns(random, {5, 1, 1}, wire.pool), {}, 7, kTwoStages};
  split.bad.push_back({2, 1000, 11, "column I3: \"x\" is not an integer", "1\tx\xff"});
  split.bad.push_back({1, 7, 3, "", "", 12});
  const auto came = wire.travel(split, {});
  REQUIRE(came);
  CHECK(came->id.number == 42);
  CHECK(came->filtered == 7);
  REQUIRE(came->bad.size() == 2);
  CHECK_FALSE(came->bad[0].group);
  CHECK(came->bad[1].group == 12);
  CHECK(came->bad[0].file == 2);
  CHECK(came->bad[0].offset == 1000);
  CHECK(came->bad[0].line == 11);
  CHECK(came->bad[0].reason == split.bad[0].reason);
  CHECK(came->bad[0].text == split.bad[0].text);
  CHECK(came->columns.rows == 5);
}

TEST_CASE("a damaged row must be of a file that there is, and short", "[actors][split_frames]") {
  Wire wire;
  Random random(3);
  Split split{{}, test::any_columns(random, {5, 1, 1}, wire.pool), {}, 0, kTwoStages};
  split.bad.push_back({2, 0, 1, "", std::string(BadRow::kMaxText, 'x')});
  CHECK(wire.travel(split, {}));
  split.bad[0].text += 'x';
  CHECK_FALSE(wire.travel(split, {}));
  split.bad[0] = {3, 0, 1, "", ""};
  const auto refused = wire.travel(split, {});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Code::kCorrupt);
}

TEST_CASE("a split's times travel with it, impossible ones are refused", "[actors][split_frames]") {
  using Time = SplitTimes::Time;
  Wire wire;
  Random random(1);
  Split split{{.number = 5}, test::any_columns(random, test::any_shape(random), wire.pool), {}, 0};
  split.times.stages = {{Time(1), Time(7)}, {Time(11), Time(17)}};
  split.times.sent = Time(99);
  SECTION("possible") {
    const auto came = wire.travel(split, {});
    REQUIRE(came);
    CHECK(came->times.sent == Time(99));
    CHECK(came->times.arrived == Time(0));
    REQUIRE(came->times.stages.size() == 2);
    CHECK(came->times.stages[1].begin == Time(11));
    CHECK(came->times.stages[0].end == Time(7));
  }
  SECTION("before the beginning of time") {
    split.times.stages[1].begin = Time(-1);
    CHECK(wire.travel(split, {}).error().code == Code::kCorrupt);
  }
  SECTION("of another number of stages") {
    for (const std::size_t stages : {1, 3}) {
      split.times.stages.resize(stages);
      const auto refused = wire.travel(split, {});
      REQUIRE_FALSE(refused);
      CHECK(refused.error().code == Code::kCorrupt);
    }
  }
  SECTION("after its end") {
    split.times.sent = Time::max();
    CHECK(wire.travel(split, {}).error().code == Code::kCorrupt);
  }
}

}  // namespace
}  // namespace forebay
