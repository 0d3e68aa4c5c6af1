#include "actors/stage/split_assembly.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "actors/stage/batcher.h"
#include "actors/stage/part_queue.h"
#include "core/base/random.h"
#include "tests/support/columns.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

constexpr std::size_t kRowsOfPieces[] = {100, 0, 37, 64, 1000};
constexpr std::size_t kPieces = std::size(kRowsOfPieces);

/// The pieces of a split, permuted as decode does it; piece i has the rows from 10,000 i on.
class AssemblyMaker {
 public:
  std::shared_ptr<SplitAssembly> make(std::uint64_t number, const std::vector<std::size_t>& order,
                                      std::size_t parts = kPieces) {
    const SplitId id{.number = number, .row_key = 7};
    auto split = std::make_shared<SplitAssembly>(id, kPieces, parts);
    for (std::size_t i = 0; i < kPieces; ++i) {
      const std::size_t piece = order[i];
      Split made{.id = id, .part = static_cast<std::uint32_t>(piece)};
      made.columns = test::numbered_rows(10'000 * piece, kRowsOfPieces[piece], pool);
      deal_rows(made.columns, split->deal_of(piece), pool);
      made.bad.resize(piece == 3 ? 2 : 0);
      made.filtered = piece;
      made.times.stages = {{SplitTimes::Time(10 + i), SplitTimes::Time(20 + i)}};
      CHECK(split->add(std::move(made)) == (i + 1 == kPieces));
    }
    return split;
  }
  std::shared_ptr<SplitAssembly> make(std::uint64_t number) {
    return make(number, {0, 1, 2, 3, 4});
  }

  /// The rows of a part, each as its dense value.
  std::vector<float> rows(const SplitAssembly& split, std::size_t part) {
    const ColumnSet columns = split.columns_of(part, true, pool);
    return {columns.dense[0], columns.dense[0] + columns.rows};
  }

  MemoryBudget budget{1 << 28};
  BufferPool pool{budget};
};

TEST_CASE("every row of the pieces is in one part, and a part takes its share of each piece",
          "[actors][stage]") {
  AssemblyMaker maker;
  const auto split = maker.make(1);
  REQUIRE(split->parts() == kPieces);
  CHECK(split->rows() == 1201);
  std::vector<float> all;
  for (std::size_t part = 0; part < kPieces; ++part) {
    const auto rows = maker.rows(*split, part);
    CHECK(rows.size() == split->rows_of(part));
    for (std::size_t piece = 0; piece < kPieces; ++piece) {
      const auto of_piece = std::ranges::count_if(
          rows, [piece](float row) { return static_cast<std::size_t>(row) / 10'000 == piece; });
      const auto share = static_cast<double>(kRowsOfPieces[piece]) / kPieces;
      // The largest piece has three chunks for a part, each of which may be a row longer than
      // another, and gives a few more or less, so that a part has a multiple of 16 rows.
      CHECK(std::abs(static_cast<double>(of_piece) - share) < (piece == 4 ? 3 + 16 : 1));
    }
    if (part + 1 < kPieces) CHECK(rows.size() % 16 == 0);
    CHECK_FALSE(std::ranges::is_sorted(rows));
    all.insert(all.end(), rows.begin(), rows.end());
  }
  CHECK(std::set<float>(all.begin(), all.end()).size() == 1201);
}

TEST_CASE("most neighbours of a piece come to the same part", "[actors][stage]") {
  AssemblyMaker maker;
  const auto split = maker.make(1);
  // Requests of 16 neighbouring rows: a chunk of the largest piece has 66, and cuts two at most.
  std::size_t requests = 0;
  for (std::size_t part = 0; part < kPieces; ++part) {
    std::set<std::size_t> of_part;
    for (const float row : maker.rows(*split, part)) {
      if (row >= 40'000) of_part.insert(static_cast<std::size_t>(row - 40'000) / 16);
    }
    requests += of_part.size();
  }
  CHECK(requests <= 63 + 3 * kPieces + kPieces);
}

TEST_CASE("the parts do not depend on the order in which pieces come", "[actors][stage]") {
  AssemblyMaker maker;
  const auto one = maker.make(1);
  const auto other = maker.make(1, {4, 2, 0, 1, 3});
  for (std::size_t part = 0; part < kPieces; ++part) {
    CHECK(maker.rows(*one, part) == maker.rows(*other, part));
  }
}

TEST_CASE("a part holds no more than its bytes", "[actors][stage]") {
  AssemblyMaker maker;
  const auto split = maker.make(1);
  for (std::size_t part = 0; part < kPieces; ++part) {
    CHECK(split->columns_of(part, true, maker.pool).bytes() <= split->bytes_of(part));
  }
}

TEST_CASE("the first part has what was left out of the whole split, and all have its times",
          "[actors][stage]") {
  AssemblyMaker maker;
  const auto split = maker.make(1);
  const Split first = SplitAssembly::part(split, 0);
  CHECK(first.bad.size() == 2);
  CHECK(first.filtered == 0 + 1 + 2 + 3 + 4);
  const Split second = SplitAssembly::part(split, 1);
  CHECK(second.bad.empty());
  CHECK(second.filtered == 0);
  CHECK(second.parts == kPieces);
  REQUIRE(second.times.stages.size() == 1);
  CHECK(second.times.stages[0].begin == SplitTimes::Time(10));
  CHECK(second.times.stages[0].end == SplitTimes::Time(24));
}

TEST_CASE("fat pieces are handed on in more parts than there are pieces", "[actors][stage]") {
  AssemblyMaker maker;
  const auto split = maker.make(1, {0, 1, 2, 3, 4}, 11);
  std::vector<float> all;
  for (std::size_t part = 0; part < 11; ++part) {
    const auto rows = maker.rows(*split, part);
    CHECK(rows.size() <= 1201 / 11 + kPieces + 16);
    all.insert(all.end(), rows.begin(), rows.end());
  }
  CHECK(std::set<float>(all.begin(), all.end()).size() == 1201);
}

TEST_CASE("the parts of a piece whose order is kept are its runs", "[actors][stage]") {
  MemoryBudget budget{1 << 28};
  BufferPool pool{budget};
  SplitAssembly split({.number = 1}, 1, 3);
  Split piece{.id = {.number = 1}};
  piece.columns = test::numbered_rows(0, 100, pool);
  REQUIRE(split.add(std::move(piece)));
  float next = 0;
  for (std::size_t part = 0; part < 3; ++part) {
    const ColumnSet columns = split.columns_of(part, false, pool);
    for (std::size_t row = 0; row < columns.rows; ++row) CHECK(columns.dense[0][row] == next++);
  }
  CHECK(next == 100);
}

std::vector<BlockRef> blocks_of(const std::vector<std::uint64_t>& bytes,
                                std::uint32_t rows = 1000) {
  std::vector<BlockRef> blocks;
  for (const std::uint64_t each : bytes) blocks.push_back({.rows = rows, .bytes = each});
  return blocks;
}

TEST_CASE("a split has a part for each piece, or for each 8 MiB of columns", "[actors][stage]") {
  const auto blocks = blocks_of({2 << 20, 1 << 20, 1 << 20});
  CHECK(cut_split(blocks, 20 << 20, true).parts == 3);
  CHECK(cut_split(blocks, 33 << 20, true).parts == 5);
  CHECK(cut_split(blocks, 33 << 20, false).parts == 5);
  CHECK(cut_split(blocks, 33 << 20, false).pieces.size() == 1);
  CHECK(cut_split(blocks_of({1000, 1000}), 5000, true).is_whole());
}

TEST_CASE("a part has some neighbouring rows of every piece, unless it were larger than 8 MiB",
          "[actors][stage]") {
  const std::vector<std::uint64_t> bytes(20, 1 << 20);
  CHECK(cut_split(blocks_of(bytes, 20 * 64), 20 << 20, true).parts == 20);
  CHECK(cut_split(blocks_of(bytes, 10 * 64), 20 << 20, true).parts == 10);
  CHECK(cut_split(blocks_of(bytes, 63), 7 << 20, true).parts == 1);
  CHECK(cut_split(blocks_of(bytes, 63), 20 << 20, true).parts == 3);
}

TEST_CASE("a piece is one large block or several small ones", "[actors][stage]") {
  const auto sizes = [](const std::vector<std::uint64_t>& bytes) {
    std::vector<std::size_t> found;
    for (const auto& piece : cut_split(blocks_of(bytes), 0, true).pieces) {
      found.push_back(piece.size());
    }
    return found;
  };
  CHECK(sizes({2 << 20, 1 << 20, 1 << 20}) == std::vector<std::size_t>{1, 1, 1});
  CHECK(sizes({10, 20, 30}) == std::vector<std::size_t>{3});
  CHECK(sizes({40 << 10, 40 << 10, 40 << 10, 5}) == std::vector<std::size_t>{2, 2});
  // An eightieth of a hundred grains of 100 KiB is more than one of them and less than two.
  CHECK(sizes(std::vector<std::uint64_t>(100, 100 << 10)).size() == 50);
  CHECK(sizes(std::vector<std::uint64_t>(1000, 400 << 10)).size() == 500);
}

/// Part queue over splits of an AssemblyMaker; no operators.
struct Queue {
  Queue() : plan(*TransformPlan::compile({}, {})), queue(plan) {}
  static std::vector<std::uint32_t> numbers(const std::vector<Split>& parts) {
    std::vector<std::uint32_t> found;
    for (const Split& part : parts) found.push_back(part.part);
    return found;
  }

  AssemblyMaker maker;
  TransformPlan plan;
  PartQueue queue;
};

TEST_CASE("without a budget each split has one part out", "[actors][stage]") {
  Queue made;
  auto first = made.queue.add(made.maker.make(1));
  auto other = made.queue.add(made.maker.make(2));
  CHECK(Queue::numbers(first) == std::vector<std::uint32_t>{0});
  CHECK(Queue::numbers(other) == std::vector<std::uint32_t>{0});
  for (std::uint32_t part = 1; part < kPieces; ++part) {
    first = made.queue.returned(first[0].id);
    REQUIRE(Queue::numbers(first) == std::vector<std::uint32_t>{part});
    CHECK(first[0].id.number == 1);
  }
  CHECK(made.queue.returned(first[0].id).empty());
  CHECK(made.queue.budget().used() == other[0].id.cost);
  CHECK(made.queue.returned({.number = 9, .cost = 5}).empty());
  CHECK(made.queue.budget().used() == other[0].id.cost);
}

TEST_CASE("the lowest split's parts use the budget first", "[actors][stage]") {
  Queue made;
  auto later = made.queue.add(made.maker.make(2));
  const std::uint64_t each = later[0].id.cost;
  made.queue.budget().set_limit(4 * each + each / 2);  // parts differ by a few rows
  const auto first = made.queue.add(made.maker.make(1));
  CHECK(Queue::numbers(first).size() >= 2);
  for (const Split& part : first) CHECK(part.id.number == 1);
  const auto next = made.queue.returned(later[0].id);
  CHECK(std::ranges::any_of(next, [](const Split& part) { return part.id.number == 1; }));
}

}  // namespace
}  // namespace forebay
