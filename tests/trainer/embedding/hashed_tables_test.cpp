#include <algorithm>
#include <atomic>

#include "tests/support/wait_until.h"
#include "tests/trainer/embedding/table_run.h"
#include "trainer/embedding/scored_rows.h"
#include "trainer/embedding/table_storage.h"

#include "tests/support/catch.h"

using namespace forebay;

namespace {

constexpr std::size_t kWidth = 2;

/// One feature; a step is a list of ids, one a row.
struct Hashed {
  Hashed(std::int64_t rows, TrainerSpec::Tables options,
         TrainerSpec::TableOptimizer optimizer = TrainerSpec::TableOptimizer::kSgd) {
    auto room = std::make_unique<CopyRoom>(4096, 4096);
    const TableLayout layout{.rows = {rows},
                             .width = kWidth,
                             .dim = kWidth,
                             .state_width = state_width(optimizer, kWidth),
                             .seed = 1};
    auto storage = make_hashed_tables(layout, options, *room);
    tables = std::make_unique<EmbeddingTables>(std::move(room), std::move(storage),
                                               EmbeddingTables::Rule{optimizer, {}});
  }

  static test::ListBatch batch_of(const std::vector<std::int64_t>& ids) {
    test::ListBatch batch({}, 0, 0);
    batch.ids = ids;
    batch.lengths.assign(ids.size(), 1);
    batch.fill(0, 1, ids.size());
    return batch;
  }
  void step(const std::vector<std::int64_t>& ids) {
    const test::ListBatch batch = batch_of(ids);
    REQUIRE(test::step(*tables, batch.batch, kWidth));
  }
  /// The vectors of ids, as a prediction reads them.
  std::vector<float> vectors(const std::vector<std::int64_t>& ids) const {
    const test::ListBatch batch = batch_of(ids);
    return test::score(*tables, batch.batch, kWidth).value();
  }
  /// Whether an id has the shared row of unknown ids.
  bool is_shared(std::int64_t id) const { return vectors({id}) == vectors({-999}); }

  /// Number of rows that belong to a single id.
  std::ptrdiff_t own_rows() const {
    auto state = tables->snapshot({}).value();
    const auto seen = read_metadata_tensor<std::uint64_t>(*state, "table.0.seen", -1).value();
    return std::ranges::count_if(seen, [](std::uint64_t step) { return step > 0; });
  }

  std::unique_ptr<EmbeddingTables> tables;
};

}  // namespace

TEST_CASE("an id has its own row once it was seen often enough", "[trainer][embedding]") {
  Hashed given(100, {.admit_after = 3});
  given.step({INT64_MIN, 5});
  given.step({INT64_MIN, 6});
  CHECK(given.own_rows() == 0);
  // The third occurrence of an id, and two at once after one: both occurrences count.
  given.step({INT64_MIN, 5, 5});
  CHECK(given.own_rows() == 2);
  CHECK_FALSE(given.is_shared(INT64_MIN));
  CHECK_FALSE(given.is_shared(5));
  CHECK(given.is_shared(6));
}

TEST_CASE("ids without a row of their own train one row together", "[trainer][embedding]") {
  // Gradients are half the vector, -0.02 and -0.01 for the first row, 0 and 0.01 for the second.
  Hashed given(100, {.admit_after = 10});
  const std::vector<float> before = given.vectors({1});
  given.step({1, 2});
  const std::vector<float> after = given.vectors({3});
  CHECK(after[0] == Approx(before[0] - 0.1 * (before[0] - 0.02)));
  CHECK(after[1] == Approx(before[1] - 0.1 * before[1]));
}

TEST_CASE("the shared row changes once a step, by the sum of its gradients",
          "[trainer][embedding]") {
  // Adagrad's first step has the length of the rate for every gradient.
  Hashed given(100, {.admit_after = 10}, TrainerSpec::TableOptimizer::kAdagrad);
  const float before = given.vectors({1})[0];
  given.step({1, 2});
  CHECK(std::abs(given.vectors({3})[0] - before) == Approx(0.1));
}

TEST_CASE("counts fade, so that ids seen seldom get no row", "[trainer][embedding]") {
  // Used, and halved, in every step.
  Hashed given(100, {.admit_after = 2, .evict_after = 4});
  given.step({7});
  given.step({9});
  given.step({7});
  CHECK(given.own_rows() == 0);
  given.step({7, 7});
  CHECK(given.own_rows() == 1);
}

TEST_CASE("scoring counts nothing", "[trainer][embedding]") {
  Hashed given(100, {.admit_after = 2});
  given.step({5});
  given.vectors({5, 5, 5});
  CHECK(given.own_rows() == 0);
}

TEST_CASE("a row whose id was not seen for so many steps begins anew", "[trainer][embedding]") {
  Hashed given(100, {.admit_after = 1, .evict_after = 8});
  given.step({5, 6});  // step 1
  const std::vector<float> trained = given.vectors({5});
  for (int step = 2; step <= 9; ++step) given.step({6});
  // Checked in steps 2, 4, 6, 8: then 5 was unseen for 7 steps.
  CHECK(given.vectors({5}) == trained);
  given.step({6});  // step 10
  CHECK(given.is_shared(5));
  CHECK_FALSE(given.is_shared(6));
  CHECK(given.own_rows() == 1);
  Hashed fresh(100, {.admit_after = 1, .evict_after = 8});
  given.step({5});
  fresh.step({5});
  CHECK(given.vectors({5}) == fresh.vectors({5}));
}

TEST_CASE("in a full table new ids share", "[trainer][embedding]") {
  Hashed given(3, {.admit_after = 1});
  given.step({1, 2, 3, 4});
  CHECK(given.own_rows() == 2);
  CHECK_FALSE(given.is_shared(1));
  CHECK_FALSE(given.is_shared(2));
  CHECK(given.is_shared(3));
  CHECK(given.is_shared(4));
}

TEST_CASE("hashed tables hold the same rows whichever batches were announced before",
          "[trainer][embedding]") {
  const auto seed = GENERATE(range(1, 6));
  Random random(static_cast<std::uint64_t>(seed));
  const TrainerSpec::Tables options{.admit_after = 2, .evict_after = 8};
  const Hashed announced(40, options, TrainerSpec::TableOptimizer::kAdagrad);
  const Hashed unannounced(40, options, TrainerSpec::TableOptimizer::kAdagrad);
  constexpr std::uint64_t kBatches = 40;
  std::vector<std::shared_ptr<const Batch>> batches;
  for (std::uint64_t number = 0; number < kBatches; ++number) {
    const auto lists =
        std::make_shared<test::ListBatch>(seed, number, std::vector<std::int64_t>{90}, 20);
    batches.emplace_back(lists, &lists->batch);
  }
  std::uint64_t next = 0;
  for (std::uint64_t number = 0; number < kBatches; ++number) {
    // Some batches are not announced, and some are announced but skipped.
    for (; next < std::min(kBatches, number + 9); ++next) {
      if (next >= number && random.below(8) != 0) announced.tables->prefetch(batches[next]);
    }
    if (random.below(10) == 0) continue;
    REQUIRE(test::step(*announced.tables, *batches[number], kWidth).value() ==
            test::step(*unannounced.tables, *batches[number], kWidth).value());
  }
  CHECK(announced.own_rows() > 0);
  CHECK(announced.own_rows() == unannounced.own_rows());
}

TEST_CASE("hashed tables find the rows of a batch when it is announced", "[trainer][embedding]") {
  const Hashed given(40, {.admit_after = 1});
  test::ListBatch lists = Hashed::batch_of({1, 2, 3});
  lists.lengths[0] = -1;
  // The look-ahead thread releases the batch once its rows are known.
  std::atomic<bool> known{false};
  given.tables->prefetch({&lists.batch, [&](const Batch*) { known = true; }});
  test::wait_until([&] { return known.load(); });
  lists.lengths[0] = 1;
  CHECK_FALSE(test::step(*given.tables, lists.batch, kWidth));
}

TEST_CASE("hashed tables continue from a snapshot as without it", "[trainer][embedding]") {
  Hashed whole(20, {.admit_after = 2, .evict_after = 6});
  Random random(1);
  const auto some_ids = [&] {
    std::vector<std::int64_t> ids;
    for (int i = 0; i < 8; ++i) ids.push_back(random.below(40));
    return ids;
  };
  for (int step = 0; step < 15; ++step) whole.step(some_ids());
  auto snapshot = whole.tables->snapshot({});
  REQUIRE(snapshot);
  Hashed resumed(20, {.admit_after = 2, .evict_after = 6});
  resumed.step({1, 2, 3});
  std::vector<std::vector<std::int64_t>> later;
  for (int step = 0; step < 20; ++step) later.push_back(some_ids());
  for (const auto& ids : later) whole.step(ids);
  REQUIRE(resumed.tables->restore(**snapshot, {}));
  snapshot->reset();
  for (const auto& ids : later) resumed.step(ids);
  std::vector<std::int64_t> all;
  for (std::int64_t id = 0; id < 40; ++id) all.push_back(id);
  CHECK(whole.vectors(all) == resumed.vectors(all));
  CHECK(whole.own_rows() == resumed.own_rows());
}
