#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <set>
#include <span>
#include <vector>

#include "actors/epoch_order.h"
#include "tests/actors/dataset_run.h"
#include "tests/support/made_up_format.h"
#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

constexpr std::int64_t kGrainRows = 300'000;
constexpr OrderSpec kGrainOrder{.epochs = 2, .batch_size = 5000, .shuffle_memory = 8 << 20};

/// 73 units of 4096 rows and one of 992; some rows are damaged.
class GrainsDataset {
 public:
  GrainsDataset() {
    test::MadeUpRows table{.names = {"label", "value", "id"}, .rows = {}};
    table.rows.reserve(kGrainRows);
    for (std::int64_t i = 0; i < kGrainRows; ++i)
      table.rows.push_back({is_damaged(i) ? 7 : i % 2, i, i});
    dir_.write("rows", test::MadeUpFormat::file_of(table, 4096));
    DatasetOptions options;
    options.base_dir = dir_.path();
    options.run_dir = dir_.path("run");
    options.formats.add(test::MadeUpFormat::entry());
    auto opened = open_dataset({.format = test::MadeUpFormat::kName, .paths = {"rows"}},
                               {.label = "label", .dense = {"value"}, .sparse = {"id"}}, options);
    REQUIRE(opened);
    dataset_ = std::move(*opened);
  }

  static bool is_damaged(std::int64_t row) { return row % 1000 == 17; }
  static std::vector<std::int64_t> sound_rows() {
    std::vector<std::int64_t> rows;
    for (std::int64_t i = 0; i < kGrainRows; ++i) {
      if (!is_damaged(i)) rows.push_back(i);
    }
    return rows;
  }
  const Dataset& operator*() const { return *dataset_; }

 private:
  test::TempDir dir_;
  std::unique_ptr<Dataset> dataset_;
};

test::DatasetRun run_grains(const GrainsDataset& dataset, const OrderSpec& order,
                            const Position& start = {}, std::uint32_t actors = 1) {
  return test::run_dataset(*dataset,
                           {.order = order, .start = start, .actors = {actors, actors, actors, 1}});
}

TEST_CASE("splits of grains are few and mix the whole dataset", "[actors][grains]") {
  const GrainsDataset dataset;
  const EpochOrder order(*dataset, kGrainOrder);
  CHECK(order.num_splits() == 3);
  CHECK(order.strata() == 25);
  for (std::size_t split = 0; split < order.num_splits(); ++split) {
    const auto blocks = order.blocks(0, split);
    CHECK(Extent::of(blocks).decoded <= kGrainOrder.shuffle_memory);
    const auto [low, high] = std::ranges::minmax(blocks, {}, &BlockRef::offset);
    CHECK(low.offset < kGrainRows / 8);
    CHECK(high.offset > kGrainRows / 8 * 7);
    CHECK_FALSE(std::ranges::is_sorted(blocks, {}, &BlockRef::offset));
  }
  OrderSpec less = kGrainOrder;
  less.shuffle_memory = 2 << 20;
  CHECK(EpochOrder(*dataset, less).strata() == 8);
  less.shuffle_memory = 1;
  CHECK(EpochOrder(*dataset, less).strata() == 1);
}

TEST_CASE("every sound row of grains is given out once an epoch", "[actors][grains]") {
  const GrainsDataset dataset;
  const auto made = run_grains(dataset, kGrainOrder);
  REQUIRE(made.status);
  const auto sound = GrainsDataset::sound_rows();
  REQUIRE(made.ids.size() == 2 * sound.size());
  for (const std::size_t epoch : {0, 1}) {
    const auto begin = made.ids.begin() + static_cast<std::ptrdiff_t>(epoch * sound.size());
    std::vector<std::int64_t> rows(begin, begin + static_cast<std::ptrdiff_t>(sound.size()));
    std::ranges::sort(rows);
    CHECK(rows == sound);
  }
}

TEST_CASE("the order of grains does not depend on the actors", "[actors][grains]") {
  const GrainsDataset dataset;
  const auto one = run_grains(dataset, kGrainOrder);
  const auto three = run_grains(dataset, kGrainOrder, {}, 3);
  CHECK(one.digest() == three.digest());
  OrderSpec other = kGrainOrder;
  other.shuffle_memory = 4 << 20;
  CHECK(run_grains(dataset, other).digest() != one.digest());
}

TEST_CASE("a run over grains goes on from every position as if it had not stopped",
          "[actors][grains]") {
  const GrainsDataset dataset;
  for (const auto mode : {OrderSpec::Mode::kExact, OrderSpec::Mode::kArrival}) {
    OrderSpec order = kGrainOrder;
    order.mode = mode;
    const auto whole = run_grains(dataset, order);
    REQUIRE(whole.status);
    for (std::size_t i = 3; i < whole.after.size(); i += 41) {
      const auto rest = run_grains(dataset, order, whole.after[i], 2);
      REQUIRE(rest.status);
      CHECK(rest.end.rows == whole.end.rows);
      if (mode == OrderSpec::Mode::kExact) CHECK(rest.end.digest == whole.end.digest);
      std::vector<std::int64_t> both(
          whole.ids.begin(), whole.ids.end() - static_cast<std::ptrdiff_t>(rest.ids.size()));
      both.insert(both.end(), rest.ids.begin(), rest.ids.end());
      std::ranges::sort(both);
      std::vector<std::int64_t> twice = GrainsDataset::sound_rows();
      twice.insert(twice.end(), twice.begin(), twice.end());
      std::ranges::sort(twice);
      CHECK(both == twice);
    }
  }
}

TEST_CASE("each sixteenth of the batches of a split comes from few of its grains",
          "[actors][grains]") {
  const GrainsDataset dataset;
  OrderSpec order = kGrainOrder;
  order.epochs = 1;
  order.batch_size = 1600;
  order.shuffle_memory = 256 << 20;
  const EpochOrder splits(*dataset, order);
  CHECK(splits.lanes(1600) == 16);
  CHECK(splits.lanes(1608) == 8);
  CHECK(splits.lanes(1601) == 1);
  const auto made = run_grains(dataset, order);
  REQUIRE(made.status);
  const std::size_t batches = made.ids.size() / order.batch_size;
  std::size_t touched = 0;
  for (std::size_t lane = 0; lane < 16; ++lane) {
    std::set<std::int64_t> grains;
    for (std::size_t batch = 0; batch < batches; ++batch) {
      const auto* row = made.ids.data() + batch * 1600 + lane * 100;
      for (const std::int64_t id : std::span(row, 100)) grains.insert(id / 4096);
    }
    touched += grains.size();
  }
  // All 74 grains are in one split. A lane's share begins and ends within a grain, or at its
  // border.
  CHECK(splits.num_splits() == 1);
  CHECK(touched >= 74);
  CHECK(touched <= 74 * 13 / 10);
}

TEST_CASE("grains leave the rows uncorrelated with the file and few with their neighbours",
          "[actors][grains]") {
  const GrainsDataset dataset;
  OrderSpec order = kGrainOrder;
  order.epochs = 1;
  const auto made = run_grains(dataset, order);
  const auto count = static_cast<double>(made.ids.size());
  double sum = 0;
  std::size_t neighbours = 0;
  for (std::size_t i = 0; i < made.ids.size(); ++i) {
    const double place = static_cast<double>(i) / count - 0.5;
    sum += place * (static_cast<double>(made.ids[i]) / static_cast<double>(kGrainRows) - 0.5);
    if (i > 0 && std::abs(made.ids[i] - made.ids[i - 1]) == 1) ++neighbours;
  }
  CHECK(std::abs(sum / count * 12) < 0.05);
  CHECK(static_cast<double>(neighbours) / count < 0.01);
}

TEST_CASE("grains in file order keep the order of the rows", "[actors][grains]") {
  const GrainsDataset dataset;
  OrderSpec order = kGrainOrder;
  order.shuffle = OrderSpec::Shuffle::kNone;
  order.epochs = 1;
  const auto made = run_grains(dataset, order, {}, 2);
  CHECK(made.ids == GrainsDataset::sound_rows());
}

}  // namespace
}  // namespace forebay
