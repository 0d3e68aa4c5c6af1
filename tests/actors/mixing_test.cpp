#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "tests/actors/dataset_run.h"
#include "tests/support/made_up_format.h"
#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

constexpr std::int64_t kSortedRows = 300'000;
constexpr std::int64_t kFirstPositive = 210'000;  // 30 % of the rows are positive
constexpr std::size_t kSortedBatch = 5000;

/// 74 units of a file sorted by label; the id of a row is its number.
class SortedByLabel {
 public:
  SortedByLabel() {
    test::MadeUpRows table{.names = {"label", "value", "id"}, .rows = {}};
    table.rows.reserve(kSortedRows);
    for (std::int64_t i = 0; i < kSortedRows; ++i) {
      table.rows.push_back({i < kFirstPositive ? 0 : 1, i, i});
    }
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

  /// Returns the mean square of the distance of a full batch's positives from their mean.
  double variance(const OrderSpec& order) const {
    const auto made = test::run_dataset(*dataset_, {.order = order});
    REQUIRE(made.status);
    constexpr double kMean =
        kSortedBatch * (1.0 - static_cast<double>(kFirstPositive) / kSortedRows);
    double sum = 0;
    std::size_t batches = 0;
    for (std::size_t begin = 0; begin + kSortedBatch <= made.ids.size();
         begin += kSortedBatch, ++batches) {
      double positives = 0;
      for (std::size_t i = begin; i < begin + kSortedBatch; ++i)
        positives += made.ids[i] >= kFirstPositive;
      sum += (positives - kMean) * (positives - kMean);
    }
    return sum / static_cast<double>(batches);
  }

 private:
  test::TempDir dir_;
  std::unique_ptr<Dataset> dataset_;
};

/// The share of positives in a batch of a full permutation is hypergeometric:
/// 5000 * 0.3 * 0.7 * (300,000 - 5000) / 299,999 = 1032.5, a spread of 32.1.
constexpr double kFullVariance =
    kSortedBatch * 0.3 * 0.7 * (kSortedRows - kSortedBatch) / (kSortedRows - 1.0);

/// The mean over 8 seeds, 480 batches: it is known to 6 %.
double mean_variance(const SortedByLabel& rows, std::uint64_t shuffle_memory) {
  constexpr int kSeeds = 8;
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    sum += rows.variance(
        {.seed = seed, .epochs = 1, .batch_size = kSortedBatch, .shuffle_memory = shuffle_memory});
  }
  return sum / kSeeds;
}

TEST_CASE("positives spread over batches of a file sorted by label as in a full permutation",
          "[actors][grains]") {
  const SortedByLabel rows;
  const double spread = std::sqrt(mean_variance(rows, 256 << 20) / kFullVariance);
  CAPTURE(spread);
  CHECK(spread < 1.2);
  // File order as a control: most batches have only one label.
  CHECK(rows.variance(
            {.shuffle = OrderSpec::Shuffle::kNone, .epochs = 1, .batch_size = kSortedBatch}) >
        100 * kFullVariance);
}

// Whole grains go into splits. At the border between the labels a split may get one of either
// label, so that its share of positives is off by up to half a grain of 25.
TEST_CASE("several splits of a file sorted by label differ by a grain at most",
          "[actors][grains]") {
  const SortedByLabel rows;
  constexpr double kStrata = 25;
  const double grain = kSortedBatch / kStrata / 2;
  const double variance = mean_variance(rows, 8 << 20);
  CAPTURE(variance, kFullVariance);
  CHECK(variance < 1.44 * kFullVariance + grain * grain);
}

}  // namespace
}  // namespace forebay
