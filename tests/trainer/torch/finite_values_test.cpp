#include "trainer/torch/kernels/finite_values.h"

#include <limits>
#include <vector>

#include "tests/support/catch.h"

using namespace forebay;

TEST_CASE("one value that is not finite is noticed wherever it stands", "[trainer][optimizer]") {
  const float bad =
      GENERATE(std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
               std::numeric_limits<float>::quiet_NaN());
  const std::size_t count = GENERATE(1, 15, 16, 17, 48);
  for (std::size_t at = 0; at < count; ++at) {
    std::vector<float> values(count, -std::numeric_limits<float>::max());
    FiniteValues finite;
    finite.see(values.data(), count);
    CHECK(finite.all());
    values[at] = bad;
    finite.see(values.data(), count);
    CHECK_FALSE(finite.all());
  }
}
