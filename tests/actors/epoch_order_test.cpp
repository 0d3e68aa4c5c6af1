#include "actors/epoch_order.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "tests/support/fake_dataset.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using test::FakeDataset;
using Shuffle = OrderSpec::Shuffle;

OrderSpec with(Shuffle shuffle, std::uint64_t seed = 1) {
  OrderSpec spec;
  spec.shuffle = shuffle;
  spec.seed = seed;
  return spec;
}

/// (file, offset) of each block of an epoch, in the order of the splits.
std::vector<std::pair<std::uint32_t, std::uint64_t>> places(const EpochOrder& order,
                                                            std::uint64_t epoch) {
  std::vector<std::pair<std::uint32_t, std::uint64_t>> all;
  for (std::size_t split = 0; split < order.num_splits(); ++split) {
    for (const BlockRef& block : order.blocks(epoch, split))
      all.emplace_back(block.file, block.offset);
  }
  return all;
}

TEST_CASE("a permutation hits every number below its size once", "[actors][order]") {
  for (const std::uint64_t size : {1, 2, 3, 5, 64, 65, 1000}) {
    std::set<std::uint64_t> hit;
    const Permutation permutation(size, 42 + size);
    for (std::uint64_t i = 0; i < size; ++i) hit.insert(permutation(i));
    CHECK(hit.size() == size);
    CHECK(*hit.rbegin() == size - 1);
  }
}

TEST_CASE("every epoch holds every block once, in every shuffle mode", "[actors][order]") {
  const FakeDataset dataset({5000, 1, 3333, 700}, 9, 250);
  for (const Shuffle shuffle : {Shuffle::kAll, Shuffle::kFile, Shuffle::kNone}) {
    const EpochOrder order(dataset, with(shuffle));
    for (const std::uint64_t epoch : {0, 1, 7}) {
      auto found = places(order, epoch);
      CHECK(found.size() == dataset.num_blocks());
      std::sort(found.begin(), found.end());
      CHECK(std::adjacent_find(found.begin(), found.end()) == found.end());
    }
  }
}

TEST_CASE("the rows of a range of splits are those of its blocks", "[actors][order]") {
  const FakeDataset dataset({5000, 1, 3333, 700}, 9, 2500);
  for (const Shuffle shuffle : {Shuffle::kAll, Shuffle::kFile, Shuffle::kNone}) {
    const EpochOrder order(dataset, with(shuffle));
    const std::size_t splits = order.num_splits();
    REQUIRE(splits > 20);
    std::vector<std::uint64_t> before = {0};
    for (std::size_t split = 0; split < splits; ++split) {
      before.push_back(before.back());
      for (const BlockRef& block : order.blocks(1, split)) before.back() += block.rows;
    }
    CHECK(before.back() == dataset.rows());
    for (std::size_t first = 0; first <= splits; first += 3) {
      for (std::size_t end = first; end <= splits; end += 5) {
        CHECK(order.rows(1, first, end) == before[end] - before[first]);
      }
    }
  }
}

TEST_CASE("file order is the order of the files", "[actors][order]") {
  const FakeDataset dataset({5000, 1, 3333}, 9, 250);
  const EpochOrder order(dataset, with(Shuffle::kNone));
  const auto found = places(order, 3);
  CHECK(std::is_sorted(found.begin(), found.end()));
  CHECK_FALSE(order.permutes_rows());
}

TEST_CASE("shuffling inside files keeps the files in order and apart", "[actors][order]") {
  const FakeDataset dataset({5000, 1, 3333}, 9, 250);
  const EpochOrder order(dataset, with(Shuffle::kFile));
  std::uint32_t before = 0;
  for (std::size_t split = 0; split < order.num_splits(); ++split) {
    const auto blocks = order.blocks(0, split);
    CHECK(blocks.front().file == blocks.back().file);
    CHECK(blocks.front().file >= before);
    before = blocks.front().file;
  }
}

TEST_CASE("another seed or epoch gives another order, the same gives the same", "[actors][order]") {
  const FakeDataset dataset({20000}, 8, 250);
  const EpochOrder order(dataset, with(Shuffle::kAll));
  const EpochOrder again(dataset, with(Shuffle::kAll));
  const EpochOrder other(dataset, with(Shuffle::kAll, 2));
  CHECK(places(order, 0) == places(again, 0));
  CHECK(places(order, 0) != places(order, 1));
  CHECK(places(order, 0) != places(other, 0));
  CHECK(order.row_key(0, 3) != order.row_key(0, 4));
  CHECK(order.row_key(0, 3) != order.row_key(1, 3));
}

TEST_CASE("a split of 20,000 rows or more holds at least 16 blocks from all over",
          "[actors][order]") {
  struct Size {
    std::uint64_t rows;
    std::uint32_t rows_per_block;
    std::uint64_t row_bytes;
  };
  // The slot rule (design/order.md): 5 MB → 2 KiB slots, 2.5 GB → 16 KiB, 1 TB → 256 KiB.
  for (const Size size :
       {Size{20'000, 8, 250}, Size{10'000'000, 65, 250}, Size{400'000, 1, 300'000}}) {
    const FakeDataset dataset({size.rows}, size.rows_per_block, size.row_bytes);
    const EpochOrder order(dataset, with(Shuffle::kAll));
    for (const std::size_t split :
         {std::size_t{0}, order.num_splits() / 2, order.num_splits() - 1}) {
      const auto blocks = order.blocks(0, split);
      CHECK(blocks.size() >= 16);
      CHECK(blocks.front().offset < dataset.bytes() / 8);
      CHECK(blocks.back().offset > dataset.bytes() / 8 * 7);
    }
  }
}

/// The rows of an epoch from split `first` on, at least `rows` of them, each as its block's
/// location.
std::vector<std::uint64_t> rows_from(const EpochOrder& order, std::size_t first, std::size_t rows) {
  std::vector<std::uint64_t> all;
  for (std::size_t split = first; all.size() < rows; ++split) {
    std::vector<std::uint64_t> own;
    for (const BlockRef& block : order.blocks(0, split))
      own.insert(own.end(), block.rows, block.offset);
    Random random(order.row_key(0, split));
    for (std::size_t left = own.size(); left > 1; --left)
      std::swap(own[left - 1], own[random.below(left)]);
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

TEST_CASE("at 10 M rows a batch of 8192 comes from at least 64 separate places",
          "[actors][order]") {
  for (const std::uint64_t row_bytes : {12, 30, 150, 170, 250, 1000}) {
    const auto rows_per_block = static_cast<std::uint32_t>(16384 / row_bytes);
    const FakeDataset dataset({10'000'000}, rows_per_block, row_bytes);
    const EpochOrder order(dataset, with(Shuffle::kAll));
    for (std::size_t split = 0; split < 20; ++split) {
      auto rows = rows_from(order, split, 8192);
      const std::set<std::uint64_t> blocks(rows.begin(), rows.begin() + 8192);
      std::size_t places = 0;
      std::uint64_t end_of_last = ~std::uint64_t{0};
      for (const std::uint64_t block : blocks) {
        places += block != end_of_last;
        end_of_last = block + rows_per_block * row_bytes;
      }
      INFO(row_bytes << " bytes a row");
      CHECK(places >= 64);
    }
  }
}

TEST_CASE("20,000 rows are mixed: no rank correlation, hardly a successor kept",
          "[actors][order]") {
  const FakeDataset dataset({20'000}, 8, 250);
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const EpochOrder order(dataset, with(Shuffle::kAll, seed));
    std::vector<double> old_places;
    for (std::size_t split = 0; split < order.num_splits(); ++split) {
      std::vector<double> rows;
      for (const BlockRef& block : order.blocks(0, split)) {
        for (std::uint32_t row = 0; row < block.rows; ++row)
          rows.push_back(static_cast<double>(block.line + row));
      }
      Random random(order.row_key(0, split));
      for (std::size_t left = rows.size(); left > 1; --left)
        std::swap(rows[left - 1], rows[random.below(left)]);
      old_places.insert(old_places.end(), rows.begin(), rows.end());
    }
    REQUIRE(old_places.size() == 20'000);
    const double mean = 10'000.5;
    double covariance = 0;
    double variance = 0;
    std::size_t successors = 0;
    for (std::size_t i = 0; i < old_places.size(); ++i) {
      covariance += (old_places[i] - mean) * (static_cast<double>(i) + 1 - mean);
      variance += (old_places[i] - mean) * (old_places[i] - mean);
      successors += i > 0 && old_places[i] == old_places[i - 1] + 1;
    }
    INFO("seed " << seed);
    CHECK(std::abs(covariance / variance) < 0.05);
    CHECK(successors < 200);
  }
}

TEST_CASE("no split is larger than the bound that memory is planned with", "[actors][order]") {
  const FakeDataset dataset({5000, 90, 3333}, 9, 250);
  for (const Shuffle shuffle : {Shuffle::kAll, Shuffle::kFile, Shuffle::kNone}) {
    const EpochOrder order(dataset, with(shuffle));
    std::uint64_t rows_bound = 0;
    for (const auto& extent : order.largest()) rows_bound = std::max(rows_bound, extent.rows);
    for (std::size_t split = 0; split < order.num_splits(); ++split) {
      std::uint64_t rows = 0;
      for (const BlockRef& block : order.blocks(2, split)) rows += block.rows;
      CHECK(rows <= rows_bound);
    }
  }
}

}  // namespace
}  // namespace forebay
