#include "actors/output/dictionary.h"

#include <cstdint>
#include <vector>

#include "core/base/random.h"

#include "tests/support/catch.h"

namespace forebay::parquet {
namespace {

template <class Word>
std::vector<Word> looked_up(const Dictionary<Word>& dictionary) {
  std::vector<Word> values;
  for (const std::uint16_t index : dictionary.indices()) {
    REQUIRE(index < dictionary.entries().size());
    values.push_back(dictionary.entries()[index]);
  }
  return values;
}

TEST_CASE("entries come in the order of their first occurrence", "[actors][output]") {
  Dictionary<std::uint32_t> dictionary;
  std::vector<std::uint32_t> values;
  for (int i = 0; i < 20; ++i) values.insert(values.end(), {7, 0, 7, 0xffffffff});
  REQUIRE(dictionary.build(values));
  CHECK(std::vector(dictionary.entries().begin(), dictionary.entries().end()) ==
        std::vector<std::uint32_t>{7, 0, 0xffffffff});
  CHECK(dictionary.width() == 2);
  CHECK(looked_up(dictionary) == values);
}

TEMPLATE_TEST_CASE("indices lead to the values, however many are distinct", "[actors][output]",
                   std::uint32_t, std::uint64_t) {
  Dictionary<TestType> dictionary;
  Random random(3);
  std::size_t built = 0;
  for (std::size_t distinct = 1; distinct < 100'000; distinct *= 3) {
    for (const std::size_t count : {1U, 63U, 64U, 8192U, 50'000U}) {
      std::vector<TestType> values(count);
      for (TestType& value : values) {
        value = static_cast<TestType>((random.next() % distinct) * 0x9e3779b1);
      }
      if (!dictionary.build(values)) continue;
      ++built;
      REQUIRE(looked_up(dictionary) == values);
    }
  }
  CHECK(built >= 20);
}

TEST_CASE("a column of distinct values has no dictionary", "[actors][output]") {
  Dictionary<std::uint32_t> dictionary;
  std::vector<std::uint32_t> values(8192);
  for (std::uint32_t i = 0; i < values.size(); ++i) values[i] = i * 2654435761U;
  CHECK_FALSE(dictionary.build(values));
  CHECK_FALSE(dictionary.build({}));
  // 8192 values of 100 take 7 bits each: less than three quarters of 32.
  for (std::uint32_t i = 0; i < values.size(); ++i) values[i] = i % 100;
  CHECK(dictionary.build(values));
  CHECK(dictionary.entries().size() == 100);
}

}  // namespace
}  // namespace forebay::parquet
