#include "tools/synth/click_rows.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "tools/synth/synth_files.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

std::string text_of(const ClickRows& rows, std::uint64_t seed, std::uint64_t from,
                    std::uint64_t to) {
  std::string text;
  char line[kMostRowText];
  ClickRow row;
  for (std::uint64_t i = from; i < to; ++i) {
    rows.make(seed, i, row);
    text.append(line, write_row(row, line));
  }
  return text;
}

}  // namespace

TEST_CASE("powers and logarithms are near the true ones", "[tools][synth]") {
  const ExactMath math;
  for (double x = -30; x < 30; x += 0.37) CHECK(math.exp2(x) == Approx(std::exp2(x)).epsilon(1e-6));
  for (std::uint64_t n = 1; n < 4096; n += 7) {
    CHECK(math.log2(n) == Approx(std::log2(static_cast<double>(n))).margin(1e-9));
  }
  CHECK(math.log2(1'000'003) == Approx(std::log2(1'000'003.0)).margin(4e-4));
}

TEST_CASE("the same seed and row give the same bytes, another seed others", "[tools][synth]") {
  const ClickRows rows;
  const ClickRows again;
  CHECK(text_of(rows, 1, 0, 50) == text_of(again, 1, 0, 50));
  CHECK(text_of(rows, 1, 10, 50) == text_of(rows, 1, 0, 50).substr(text_of(rows, 1, 0, 10).size()));
  CHECK(text_of(rows, 1, 0, 50) != text_of(rows, 2, 0, 50));
}

TEST_CASE("a made-up row has Criteo's layout and size", "[tools][synth]") {
  const ClickRows rows;
  const std::string text = text_of(rows, 3, 0, 2000);
  CHECK(std::count(text.begin(), text.end(), '\n') == 2000);
  CHECK(std::count(text.begin(), text.end(), '\t') == 2000 * 39);
  CHECK(text.size() / 2000 > 220);
  CHECK(text.size() / 2000 < 280);
  CHECK(text.find('-') != std::string::npos);
}

TEST_CASE("labels follow the chances, for any seed", "[tools][synth]") {
  const ClickRows rows;
  for (std::uint64_t seed : {1, 2}) {
    constexpr int kRows = 50'000;
    AucHistogram auc;
    double expected = 0;
    double clicks = 0;
    ClickRow row;
    for (std::uint64_t i = 0; i < kRows; ++i) {
      rows.make(seed, i, row);
      auc.add(row.chance, row.click);
      expected += row.chance;
      clicks += row.click ? 1 : 0;
    }
    // The standard deviation of the count is below sqrt(50,000 / 4) = 112.
    CHECK(std::abs(clicks - expected) < 500);
    CHECK(expected / kRows > 0.03);
    CHECK(expected / kRows < 0.25);
    REQUIRE(auc.auc());
    CHECK(*auc.auc() > 0.75);
    CHECK(*auc.auc() < 0.9);
  }
}

TEST_CASE("the AUC counts pairs, and ties by half", "[tools][synth]") {
  AucHistogram auc;
  CHECK_FALSE(auc.auc());
  // Clicks at 0.9 and 0.5, others at 0.5 and 0.1: of four pairs three are won and one is tied.
  auc.add(0.9, true);
  auc.add(0.5, true);
  auc.add(0.5, false);
  auc.add(0.1, false);
  CHECK(*auc.auc() == Approx(3.5 / 4));
}

}  // namespace forebay
