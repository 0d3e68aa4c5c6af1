#include <algorithm>
#include <vector>

#include "trainer/embedding/table_storage.h"

#include "tests/support/catch.h"

using namespace forebay;

namespace {

std::vector<float> row(std::uint64_t seed, std::size_t feature, std::int64_t key) {
  std::vector<float> values(16, 7);
  RowValues(seed, feature, 100, 15).fill(key, values);
  return values;
}

}  // namespace

TEST_CASE("a row's first value follows from seed, feature and key", "[trainer][embedding]") {
  CHECK(row(1, 2, 3) == row(1, 2, 3));
  CHECK(row(1, 2, 3) != row(2, 2, 3));
  CHECK(row(1, 2, 3) != row(1, 3, 3));
  CHECK(row(1, 2, 3) != row(1, 2, 4));
  CHECK(row(1, 2, -3) != row(1, 2, 3));
}

TEST_CASE("values beyond the vector begin at 0", "[trainer][embedding]") {
  CHECK(row(1, 2, 3).back() == 0);
}

TEST_CASE("first values are uniform within the published bounds", "[trainer][embedding]") {
  std::vector<float> all;
  for (std::int64_t key = 0; key < 1000; ++key) {
    const std::vector<float> values = row(1, 0, key);
    all.insert(all.end(), values.begin(), values.end() - 1);
  }
  std::ranges::sort(all);
  CHECK(all.front() > -0.1f);
  CHECK(all.back() < 0.1f);
  // 15000 uniform values: the largest distance to the diagonal is below 1.6/√n in 99 of 100 cases.
  double distance = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(all.size());
    distance = std::max(distance, std::abs((all[i] + 0.1) / 0.2 - share));
  }
  CHECK(distance < 0.013);
}
