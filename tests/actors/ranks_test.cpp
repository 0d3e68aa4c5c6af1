#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "actors/position_check.h"
#include "actors/rank_share.h"
#include "actors/rank_walk.h"
#include "tests/actors/dataset_run.h"
#include "tests/support/made_up_format.h"
#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using Shuffle = OrderSpec::Shuffle;

constexpr std::int64_t kRankedRows = 20'003;

/// A dataset that counts the bytes of the blocks that are loaded.
class CountingDataset final : public Dataset {
 public:
  explicit CountingDataset(const Dataset& of) : of_(of) {}

  const Format& format() const override { return of_.format(); }
  const std::vector<DatasetFile>& files() const override { return of_.files(); }
  std::size_t num_blocks() const override { return of_.num_blocks(); }
  BlockRef block(std::size_t i) const override { return of_.block(i); }
  std::uint64_t rows() const override { return of_.rows(); }
  std::uint64_t bytes() const override { return of_.bytes(); }
  Digest fingerprint() const override { return of_.fingerprint(); }
  bool in_grains() const override { return of_.in_grains(); }
  Result<std::unique_ptr<BlockSource>> open(std::uint32_t file) const override {
    auto source = of_.open(file);
    if (!source) return pass(source);
    return std::make_unique<Source>(std::move(*source), loaded);
  }

  mutable std::atomic<std::uint64_t> loaded{0};

 private:
  class Source final : public BlockSource {
   public:
    Source(std::unique_ptr<BlockSource> of, std::atomic<std::uint64_t>& loaded)
        : of_(std::move(of)), loaded_(loaded) {}
    Result<std::size_t> load(const BlockRef& block, std::span<char> out) override {
      loaded_ += block.bytes;
      return of_->load(block, out);
    }

   private:
    std::unique_ptr<BlockSource> of_;
    std::atomic<std::uint64_t>& loaded_;
  };

  const Dataset& of_;
};

/// Rows of which some are damaged: as units of `group` rows, or as text.
class RankedDataset {
 public:
  enum class Kind : std::uint8_t { kUnits, kText };

  explicit RankedDataset(Kind kind, std::int64_t rows = kRankedRows, std::size_t group = 1024)
      : rows_(rows) {
    DatasetOptions options;
    options.base_dir = dir_.path();
    options.run_dir = dir_.path("run");
    options.formats.add(test::MadeUpFormat::entry());
    dir_.write("rows", kind == Kind::kUnits ? units(group) : text());
    const std::string format = kind == Kind::kUnits ? test::MadeUpFormat::kName : "csv";
    auto opened = open_dataset({.format = format, .paths = {"rows"}},
                               {.label = "label", .dense = {"value"}, .sparse = {"id"}}, options);
    REQUIRE(opened);
    dataset_ = std::move(*opened);
    counted_ = std::make_unique<CountingDataset>(*dataset_);
    counts_ = std::make_unique<RowCounts>(*counted_, sound_rows());
  }

  const CountingDataset& operator*() const { return *counted_; }
  const RowCounts& counts() const { return *counts_; }

  test::DatasetRun run(const OrderSpec& order, RankShare share, const Position& start = {},
                       std::size_t most = ~std::size_t{0}) const {
    Position begin = start;
    begin.of_ranks = !share.is_all() || start.of_ranks;
    return test::run_dataset(*counted_, {.order = order,
                                         .start = begin,
                                         .most_batches = most,
                                         .actors = {2, 2, 2, 1},
                                         .share = share,
                                         .counts = counts_.get()});
  }

 private:
  static bool is_damaged(std::int64_t row) { return row % 1000 == 17; }

  std::string units(std::size_t group) const {
    test::MadeUpRows table{.names = {"label", "value", "id"}, .rows = {}};
    for (std::int64_t i = 0; i < rows_; ++i) {
      table.rows.push_back({is_damaged(i) ? 7 : i % 2, i, i});
    }
    return test::MadeUpFormat::file_of(table, group);
  }

  std::string text() const {
    std::string rows = "label,value,id\n";
    for (std::int64_t i = 0; i < rows_; ++i) {
      const std::string number = std::to_string(i);
      rows += is_damaged(i) ? "x," : i % 2 == 0 ? "0," : "1,";
      rows.append(number).append(",").append(number).append("\n");
    }
    return rows;
  }

  std::vector<std::uint32_t> sound_rows() const {
    std::vector<std::uint32_t> counts;
    std::int64_t row = 0;
    for (std::size_t i = 0; i < dataset_->num_blocks(); ++i) {
      std::uint32_t sound = 0;
      for (std::uint32_t k = 0; k < dataset_->block(i).rows; ++k) sound += !is_damaged(row++);
      counts.push_back(sound);
    }
    return counts;
  }

  const std::int64_t rows_;
  test::TempDir dir_;
  std::unique_ptr<Dataset> dataset_;
  std::unique_ptr<CountingDataset> counted_;
  std::unique_ptr<RowCounts> counts_;
};

OrderSpec ranked_order(std::uint64_t batch_size, Shuffle shuffle = Shuffle::kAll) {
  return {.shuffle = shuffle,
          .epochs = 2,
          .batch_size = batch_size,
          .shuffle_memory = std::uint64_t{1} << 20};
}

/// The ids of each batch of several ranks, those of the first rank first.
std::vector<std::vector<std::int64_t>> joined(const std::vector<test::DatasetRun>& ranks) {
  std::vector<std::vector<std::int64_t>> batches(ranks.front().sizes.size());
  for (const test::DatasetRun& rank : ranks) {
    REQUIRE(rank.status);
    REQUIRE(rank.sizes.size() == batches.size());
    auto at = rank.ids.begin();
    for (std::size_t i = 0; i < batches.size(); ++i) {
      const auto end = at + static_cast<std::ptrdiff_t>(rank.sizes[i]);
      batches[i].insert(batches[i].end(), at, end);
      at = end;
    }
  }
  return batches;
}

std::vector<test::DatasetRun> run_ranks(const RankedDataset& dataset, const OrderSpec& order,
                                        std::uint32_t ranks, const Position& start = {}) {
  std::vector<test::DatasetRun> runs;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    runs.push_back(dataset.run(order, {rank, ranks}, start));
  }
  return runs;
}

TEST_CASE("a rank's share of a batch is its run of the rows", "[actors][ranks]") {
  CHECK(RankShare{0, 3}.of(10).begin == 0);
  CHECK(RankShare{0, 3}.of(10).end == 3);
  CHECK(RankShare{1, 3}.of(10).end == 6);
  CHECK(RankShare{2, 3}.of(10).end == 10);
  CHECK(RankShare{0, 4}.of(3).size() == 0);
}

TEST_CASE("rows left over are dealt so that two and four ranks get as many as their shares have",
          "[actors][ranks]") {
  const std::vector<std::size_t> first{15, 7, 11, 3, 13};
  for (std::size_t turn = 0; turn < first.size(); ++turn) {
    CHECK(lane_in_turn(turn, 16) == first[turn]);
  }
  for (const std::size_t ranks : {2, 4}) {
    std::vector<std::size_t> lanes(16);
    for (std::size_t turn = 0; turn < 16; ++turn) {
      ++lanes[lane_in_turn(turn, 16)];
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        const RowRange mine = RankShare{rank, static_cast<std::uint32_t>(ranks)}.of(16);
        const auto begin = lanes.begin() + static_cast<std::ptrdiff_t>(mine.begin);
        const std::size_t dealt = std::accumulate(begin, begin + 16 / static_cast<int>(ranks), 0UL);
        CHECK(dealt == RankShare{rank, static_cast<std::uint32_t>(ranks)}.of(turn + 1).size());
      }
    }
    CHECK(lanes == std::vector<std::size_t>(16, 1));
  }
}

TEST_CASE("rows of a part are found in the ranges that a set holds", "[actors][ranks]") {
  const PartialRows part{.all = 100, .ranges = {{10, 20}, {50, 60}}};
  CHECK(part.place_of({12, 20}) == 2);
  CHECK(part.place_of({50, 51}) == 10);
  CHECK_FALSE(part.place_of({19, 21}));
  CHECK_FALSE(part.place_of({0, 5}));
}

// 4096: sixteen lanes, 1000: eight, 4095: one.
TEST_CASE("the slices of all ranks are the batches of a single trainer", "[actors][ranks]") {
  for (const auto kind : {RankedDataset::Kind::kUnits, RankedDataset::Kind::kText}) {
    const RankedDataset dataset(kind);
    for (const std::uint64_t batch_size : {4096, 1000, 4095}) {
      for (const Shuffle shuffle : {Shuffle::kAll, Shuffle::kFile, Shuffle::kNone}) {
        if (shuffle != Shuffle::kAll && batch_size != 1000) continue;
        const OrderSpec order = ranked_order(batch_size, shuffle);
        const auto whole = joined({dataset.run(order, {})});
        for (const std::uint32_t ranks : {3, 8}) {
          const auto runs = run_ranks(dataset, order, ranks);
          CHECK(joined(runs) == whole);
          CHECK(runs.front().end.rows == 2 * dataset.counts().total());
          CHECK(runs.back().end.epoch == 2);
        }
      }
    }
  }
}

TEST_CASE("an epoch's last rows are left out for all ranks alike", "[actors][ranks]") {
  const RankedDataset dataset(RankedDataset::Kind::kUnits);
  OrderSpec order = ranked_order(4096);
  order.drop_last = true;
  const auto whole = joined({dataset.run(order, {})});
  REQUIRE(whole.size() == 2 * (dataset.counts().total() / 4096));
  CHECK(joined(run_ranks(dataset, order, 3)) == whole);
  CHECK(joined(run_ranks(dataset, order, 4)) == whole);
}

TEST_CASE("a rank whose epochs have no batch comes to the end of the job", "[actors][ranks]") {
  const RankedDataset dataset(RankedDataset::Kind::kText);
  OrderSpec order = ranked_order(200'000);
  order.drop_last = true;
  order.epochs = 5;
  const auto run = dataset.run(order, {0, 2});
  REQUIRE(run.status);
  CHECK(run.after.empty());
  CHECK(run.end.epoch == 5);
}

TEST_CASE("a rank reads nothing of the next epoch before it nears the end of this one",
          "[actors][ranks]") {
  const RankedDataset dataset(RankedDataset::Kind::kUnits);
  OrderSpec order = ranked_order(4096);
  order.epochs = 1000;
  const std::uint64_t batches = (dataset.counts().total() + 4095) / 4096;
  (*dataset).loaded = 0;
  REQUIRE(dataset.run(order, {0, 2}, {}, batches - 2).status);
  CHECK((*dataset).loaded < (*dataset).bytes());
  (*dataset).loaded = 0;
  REQUIRE(dataset.run(order, {0, 2}, {}, 3 * batches).status);
  CHECK((*dataset).loaded > (*dataset).bytes());
}

TEST_CASE("fewer rows than ranks give some ranks empty batches", "[actors][ranks]") {
  const RankedDataset dataset(RankedDataset::Kind::kText);
  const OrderSpec order = ranked_order(3);
  const auto run = dataset.run(order, {0, 4}, {}, 20);
  REQUIRE(run.status);
  CHECK(run.sizes == std::vector<std::size_t>(20, 0));
  CHECK(dataset.run(order, {3, 4}, {}, 20).sizes == std::vector<std::size_t>(20, 1));
}

TEST_CASE("a rank loads about its part of the data", "[actors][ranks]") {
  // 74 pieces a split; about 30 splits, of which a rank's part of a batch takes six or twelve.
  const RankedDataset units(RankedDataset::Kind::kUnits, 300'000, 4096);
  const RankedDataset text(RankedDataset::Kind::kText, 100'003);
  const auto loaded = [](const RankedDataset& dataset, std::uint64_t batch_size, RankShare share) {
    (*dataset).loaded = 0;
    OrderSpec order = ranked_order(batch_size);
    order.shuffle_memory = std::uint64_t{64} << 20;
    REQUIRE(dataset.run(order, share).status);
    return static_cast<double>((*dataset).loaded) * share.ranks;
  };
  for (const std::uint32_t ranks : {2, 4}) {
    const double whole_of_units = loaded(units, 4096, {});
    const double whole_of_text = loaded(text, 80'000, {});
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      CHECK(loaded(units, 4096, {rank, ranks}) < 1.3 * whole_of_units);
      CHECK(loaded(text, 80'000, {rank, ranks}) < 1.3 * whole_of_text);
    }
  }
}

TEST_CASE("a rank's position serves any number of ranks", "[actors][ranks]") {
  for (const auto kind : {RankedDataset::Kind::kUnits, RankedDataset::Kind::kText}) {
    const RankedDataset dataset(kind);
    const OrderSpec order = ranked_order(4096);
    const auto whole = joined({dataset.run(order, {})});
    const PositionFacts facts{.dataset = *dataset, .order = order};
    const auto one = dataset.run(order, {1, 4});
    const auto other = dataset.run(order, {0, 3});
    for (std::size_t i = 1; i < whole.size(); i += 4) {
      Position at = one.after[i];
      CHECK(at.of_ranks);
      CHECK(at.split == other.after[i].split);
      CHECK(at.split_rows == other.after[i].split_rows);
      CHECK(at.rows == other.after[i].rows);
      REQUIRE(check_ranked_position({.position = at, .fingerprint = {}, .identity = {}}, facts,
                                    dataset.counts()));
      at.digest = {};
      const std::vector<std::vector<std::int64_t>> rest(
          whole.begin() + static_cast<std::ptrdiff_t>(i + 1), whole.end());
      for (const std::uint32_t ranks : {1, 5}) {
        CHECK(joined(run_ranks(dataset, order, ranks, at)) == rest);
      }
    }
  }
}

TEST_CASE("a rank's position with one changed number is refused by its name", "[actors][ranks]") {
  const RankedDataset dataset(RankedDataset::Kind::kUnits);
  const OrderSpec order = ranked_order(4096);
  const auto run = dataset.run(order, {1, 4}, {}, 8);
  const PositionFacts facts{.dataset = *dataset, .order = order};
  const auto refusal = [&](const Position& at) {
    auto checked = check_ranked_position({.position = at, .fingerprint = {}, .identity = {}}, facts,
                                         dataset.counts());
    return checked ? std::string() : checked.error().message;
  };
  const Position sound = run.after[7];
  REQUIRE(refusal(sound).empty());
  const auto check = [&](std::uint64_t Position::*number, std::uint64_t to, const char* named) {
    Position at = sound;
    at.*number = to;
    CHECK_THAT(refusal(at), Catch::Contains(std::string(": ") + named + " is "));
  };
  check(&Position::epoch, std::uint64_t{1} << 40, "epoch");
  check(&Position::epoch, 900'000'000, "rows");
  check(&Position::split, 1000, "split");
  check(&Position::open_split, sound.split + 1, "open_split");
  check(&Position::split_rows, 1'000'000, "split_rows");
  check(&Position::split_rows, sound.split_rows + 1, "rows");
  check(&Position::rows, sound.rows + 4096, "rows");
  check(&Position::batches, sound.batches + 1, "batches");
  Position early = sound;
  early.ahead = {2};
  CHECK_THAT(refusal(early), Catch::Contains(": ahead is "));
}

TEST_CASE("a rank whose rows are not those that were counted ends with an error",
          "[actors][ranks]") {
  for (const auto kind : {RankedDataset::Kind::kUnits, RankedDataset::Kind::kText}) {
    const RankedDataset dataset(kind);
    const RowCounts all(*dataset);  // takes damaged rows for sound ones
    const auto run =
        test::run_dataset(*dataset, {.order = ranked_order(4096), .share = {0, 2}, .counts = &all});
    REQUIRE_FALSE(run.status);
    CHECK_THAT(run.status.error().message, Catch::Contains("rows remain, and"));
  }
}

}  // namespace
}  // namespace forebay
