#include <bit>
#include <filesystem>
#include <numeric>

#include "tests/support/temp_dir.h"
#include "tests/trainer/embedding/table_run.h"
#include "trainer/embedding/scored_rows.h"
#include "trainer/embedding/table_storage.h"
#include "trainer/embedding/tiered/tier_counts.h"
#include "trainer/embedding/tiered/tiered_state.h"

#include "tests/support/catch.h"

using namespace forebay;

namespace {

using Optimizer = TrainerSpec::TableOptimizer;

constexpr std::size_t kTieredWidth = 6;
constexpr std::size_t kBatchRows = 20;

/// Two tables of 600 rows, in memory, or in tiers with so many slots.
struct Tables {
  test::TempDir dir;
  Optimizer optimizer = Optimizer::kAdagrad;
  std::uint64_t seed = 1;
  std::vector<std::int64_t> table_rows = {600, 600};

  TableLayout layout() const {
    return {.rows = table_rows,
            .width = kTieredWidth,
            .dim = kTieredWidth - 1,
            .state_width = state_width(optimizer, kTieredWidth),
            .seed = seed};
  }

  /// The least memory that gives so many slots.
  std::uint64_t memory_for(std::uint64_t slots) const {
    std::uint64_t low = 0;
    std::uint64_t high = std::uint64_t{1} << 30;
    while (low < high) {
      const std::uint64_t middle = (low + high) / 2;
      if (tiered_slots(layout(), middle) >= slots) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  std::unique_ptr<EmbeddingTables> in_memory() const {
    auto room = std::make_unique<CopyRoom>(4096, 1 << 20);
    auto storage = make_memory_tables(layout(), *room);
    return std::make_unique<EmbeddingTables>(std::move(room), std::move(storage),
                                             EmbeddingTables::Rule{optimizer, {}});
  }

  std::unique_ptr<EmbeddingTables> in_tiers(std::uint64_t slots, const std::string& name = "t") {
    auto room = std::make_unique<CopyRoom>(4096, 1 << 20);
    auto storage =
        make_tiered_tables(layout(), {.memory_bytes = memory_for(slots), .folder = dir.path(name)},
                           *room)
            .value();
    return std::make_unique<EmbeddingTables>(std::move(room), std::move(storage),
                                             EmbeddingTables::Rule{optimizer, {}});
  }

  std::shared_ptr<const Batch> batch(std::uint64_t number) const {
    auto lists = std::make_shared<test::ListBatch>(seed, number, table_rows, kBatchRows);
    return {lists, &lists->batch};
  }
};

/// Number of rows that were written to the disk.
int rows_on_disk(EmbeddingTables& tiers) {
  auto state = tiers.snapshot({}).value();
  const auto written = read_metadata_tensor<std::uint8_t>(*state, kTierWritten, -1).value();
  return std::accumulate(written.begin(), written.end(), 0,
                         [](int rows, std::uint8_t bits) { return rows + std::popcount(bits); });
}

/// Passes a snapshot on, and records the largest single read of the rows' keys.
struct Watched final : StateSource {
  explicit Watched(StateSource& of) : source(of) {}

  const std::vector<StateTensor>& tensors() const override { return source.tensors(); }
  Status read(std::size_t index, std::uint64_t offset, std::span<std::byte> to) override {
    if (tensors()[index].name == kTierKeys) {
      most_of_keys = std::max(most_of_keys, to.size());
    }
    return source.read(index, offset, to);
  }
  Result<std::string> files_folder() override { return source.files_folder(); }

  StateSource& source;
  std::size_t most_of_keys = 0;
};

}  // namespace

TEST_CASE("rows of tables in tiers are counted where they lie, through a snapshot, too",
          "[trainer][embedding]") {
  Tables given;
  const auto tiers = given.in_tiers(240);
  std::uint64_t lookups = 0;
  for (std::uint64_t number = 0; number < 40; ++number) {
    const auto batch = given.batch(number);
    lookups += batch->num_ids;
    REQUIRE(test::step(*tiers, *batch, kTieredWidth));
  }
  std::uint64_t in_memory = 0;
  std::uint64_t on_disk = 0;
  std::uint64_t counted = 0;
  for (const TableTiers& table : tiers->tiers()) {
    CHECK(table.rows == 600);
    CHECK(table.in_memory + table.on_disk <= 600);
    CHECK(table.found > table.lookups / 4);  // most ids are five rows
    CHECK(table.found < table.lookups);
    in_memory += table.in_memory;
    on_disk += table.on_disk;
    counted += table.lookups;
  }
  CHECK(in_memory == 240);
  CHECK(on_disk > 0);
  CHECK(on_disk <= static_cast<std::uint64_t>(rows_on_disk(*tiers)));
  CHECK(counted == lookups);
  // A restored one counts the same rows, though the next batch may evict others.
  const auto other = given.in_tiers(240, "other");
  {
    auto state = tiers->snapshot({}).value();
    REQUIRE(other->restore(*state, {}));
  }
  for (const auto& tables : {tiers.get(), other.get()}) {
    REQUIRE(test::step(*tables, *given.batch(40), kTieredWidth));
  }
  const auto rows_in = [](const TableTiers& table) { return table.in_memory + table.on_disk; };
  for (std::size_t table = 0; table < 2; ++table) {
    CHECK(rows_in(other->tiers()[table]) == rows_in(tiers->tiers()[table]));
  }
  CHECK(other->tiers()[0].in_memory + other->tiers()[1].in_memory == 240);
  CHECK(given.in_memory()->tiers().empty());  // before the first batch
}

TEST_CASE("tables in tiers and tables in memory hold the same bits", "[trainer][embedding]") {
  Tables given;
  given.seed = GENERATE(range(1, 13));
  Random random(given.seed);
  given.optimizer = GENERATE(Optimizer::kSgd, Optimizer::kRowwiseAdagrad);
  // At most 2 · 20 · 3 rows a batch; two batches fit.
  const std::uint64_t slots = 240 + random.below(300);
  const std::uint64_t ahead = random.below(9);
  INFO(slots << " slots, " << ahead << " batches ahead");
  const auto tiers = given.in_tiers(slots);
  const auto memory = given.in_memory();
  constexpr std::uint64_t kBatches = 60;
  std::vector<std::shared_ptr<const Batch>> batches;
  for (std::uint64_t number = 0; number < kBatches; ++number) {
    batches.push_back(given.batch(number));
  }
  std::uint64_t announced = 0;
  for (std::uint64_t number = 0; number < kBatches; ++number) {
    // Some batches are not announced.
    for (; announced < std::min(kBatches, number + ahead); ++announced) {
      if (announced >= number && random.below(8) != 0) tiers->prefetch(batches[announced]);
    }
    const auto seen = test::step(*tiers, *batches[number], kTieredWidth);
    REQUIRE(seen);
    REQUIRE(*seen == test::step(*memory, *batches[number], kTieredWidth).value());
    if (random.below(6) == 0) {
      const auto other = given.batch(1000 + number);
      const auto scored = test::score(*tiers, *other, kTieredWidth);
      REQUIRE(scored);
      REQUIRE(*scored == test::score(*memory, *other, kTieredWidth).value());
    }
  }
  CHECK(test::contents(*tiers, given.table_rows, kTieredWidth, 50) ==
        test::contents(*memory, given.table_rows, kTieredWidth, 50));
  CHECK(rows_on_disk(*tiers) > 0);
}

TEST_CASE("rows that were only scored are not written to the disk", "[trainer][embedding]") {
  Tables given;
  const auto tiers = given.in_tiers(240);
  test::contents(*tiers, given.table_rows, kTieredWidth, 50);
  CHECK(rows_on_disk(*tiers) == 0);
}

TEST_CASE("a batch that never fits is refused with the sizes", "[trainer][embedding]") {
  Tables given;
  const auto tiers = given.in_tiers(30);
  const auto batch = given.batch(1);
  tiers->prefetch(batch);
  const auto refused = test::step(*tiers, *batch, kTieredWidth);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Code::kOverloaded);
  CHECK_THAT(refused.error().message,
             Catch::Contains("batch 1 needs") && Catch::Contains("trainer.tables.memory"));
}

TEST_CASE("rows of expected batches are counted as ready", "[trainer][embedding]") {
  Tables given;
  const auto tiers = given.in_tiers(1200);
  const auto first = given.batch(0);
  // Not announced, so that no row of it is resident.
  REQUIRE(test::step(*tiers, *first, kTieredWidth));
  CHECK(tiers->lookups().all == first->num_ids);
  CHECK(tiers->lookups().ready == 0);
  REQUIRE(test::step(*tiers, *first, kTieredWidth));
  CHECK(tiers->lookups().ready == first->num_ids);
}

TEST_CASE("announced batches that are skipped or cancelled hold no slots", "[trainer][embedding]") {
  Tables given;
  const auto tiers = given.in_tiers(240);
  for (std::uint64_t number = 0; number < 12; ++number) tiers->prefetch(given.batch(number));
  const auto last = given.batch(12);
  tiers->prefetch(last);
  CHECK(test::step(*tiers, *last, kTieredWidth));
  // Nor do batches that are cancelled.
  for (std::uint64_t number = 13; number < 30; ++number) tiers->prefetch(given.batch(number));
  tiers->prefetch(nullptr);
  CHECK(test::step(*tiers, *given.batch(40), kTieredWidth));
}

TEST_CASE("a snapshot of tables in tiers shows its moment and fits any memory limit",
          "[trainer][embedding]") {
  Tables given;
  const auto tiers = given.in_tiers(300);
  const auto memory = given.in_memory();
  for (std::uint64_t number = 0; number < 20; ++number) {
    const auto batch = given.batch(number);
    tiers->prefetch(batch);
    REQUIRE(test::step(*tiers, *batch, kTieredWidth));
    REQUIRE(test::step(*memory, *batch, kTieredWidth));
  }
  auto snapshot = tiers->snapshot({});
  REQUIRE(snapshot);
  for (std::uint64_t number = 20; number < 40; ++number) {
    REQUIRE(test::step(*tiers, *given.batch(number), kTieredWidth));
  }
  const auto other = given.in_tiers(GENERATE(240, 700), "other");
  REQUIRE(test::step(*other, *given.batch(99), kTieredWidth));
  REQUIRE(other->restore(**snapshot, {}));
  CHECK(test::contents(*other, given.table_rows, kTieredWidth, 50) ==
        test::contents(*memory, given.table_rows, kTieredWidth, 50));
  // The optimizer's state was restored, too.
  const auto next = given.batch(50);
  REQUIRE(test::step(*other, *next, kTieredWidth));
  REQUIRE(test::step(*memory, *next, kTieredWidth));
  CHECK(test::contents(*other, given.table_rows, kTieredWidth, 50) ==
        test::contents(*memory, given.table_rows, kTieredWidth, 50));
}

TEST_CASE("the row index of a larger memory is read in parts of a few thousand rows",
          "[trainer][embedding]") {
  Tables given;
  given.table_rows = {10000, 10000};
  const auto tiers = given.in_tiers(16000);
  REQUIRE(test::step(*tiers, *given.batch(0), kTieredWidth));
  const std::vector<float> trained = test::contents(*tiers, given.table_rows, kTieredWidth, 1000);
  auto snapshot = tiers->snapshot({});
  REQUIRE(snapshot);
  Watched source(**snapshot);
  const auto other = given.in_tiers(GENERATE(5000, 16000, 18000), "other");
  REQUIRE(other->restore(source, {}));
  CHECK(source.most_of_keys == 4096 * sizeof(std::int64_t));
  CHECK(test::contents(*other, given.table_rows, kTieredWidth, 1000) == trained);
}

TEST_CASE("a folder that cannot be made is named", "[trainer][embedding]") {
  Tables given;
  given.dir.write("file", "");
  CopyRoom room(4096, 4096);
  const auto refused = make_tiered_tables(
      given.layout(), {.memory_bytes = given.memory_for(240), .folder = given.dir.path("file/t")},
      room);
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().message, Catch::Contains(given.dir.path("file/t")));
}

TEST_CASE("memory too small for one row is refused with the bytes needed", "[trainer][embedding]") {
  Tables given;
  CopyRoom room(4096, 4096);
  const auto refused = make_tiered_tables(
      given.layout(), {.memory_bytes = 1000, .folder = given.dir.path("t")}, room);
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().message, Catch::Contains("trainer.tables.memory"));
}

TEST_CASE("lookups of lists that rows share count for each row, found or not",
          "[trainer][embedding]") {
  // Three rows share a list of two ids of the first table; the second has one id in one row.
  BatchRows rows;
  rows.first_id = {0, 2, 3};
  rows.first_row = {0, 2, 3};
  rows.times = {3, 3, 1};
  TierCounts counts(std::vector<TableTiers>(2));
  counts.looked_up(rows);
  counts.missed(0, 3);
  counts.missed(0, 3);
  CHECK(counts.tables()[0].lookups == 6);
  CHECK(counts.tables()[0].found == 0);
  CHECK(counts.tables()[1].lookups == 1);
  CHECK(counts.tables()[1].found == 1);
}
