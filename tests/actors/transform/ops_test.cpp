#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "actors/transform/transform.h"
#include "core/base/random.h"
#include "tests/actors/transform/ops_fixture.h"

#include "tests/support/catch.h"

namespace forebay::test {
namespace {

TEST_CASE("sampling keeps whole rows, the same ones each time", "[actors][transform]") {
  const auto sample = [](double rate, std::int64_t salt) {
    Columns columns(10000);
    Floats values;
    Integers ids;
    Lists lists;
    for (int i = 0; i < 10000; ++i) {
      values.push_back(static_cast<float>(i));
      ids.push_back(i);
      lists.emplace_back(static_cast<std::size_t>(i % 3), i);
    }
    columns.dense("x", values).ids("c", ids).sparse("d", lists);
    Floats weights = values;
    Integers extras = ids;
    columns.set().weights = weights.data();
    columns.set().extras = {extras.data()};
    REQUIRE(columns.apply({{"sampling", {}, {{"rate", rate}, {"salt", whole(salt)}}}}));
    const std::size_t rows = columns.set().rows;
    const auto dropped_lists = columns.lists(1);
    for (std::size_t row = 0; row < rows; ++row) {
      const auto origin = static_cast<std::int64_t>(columns.set().origins[row].offset() / 100);
      REQUIRE(columns.set().labels[row] == static_cast<float>(origin));
      REQUIRE(columns.set().dense[0][row] == static_cast<float>(origin));
      REQUIRE(columns.set().sparse[0].values[row] == origin);
      REQUIRE(columns.set().weights[row] == static_cast<float>(origin));
      REQUIRE(columns.set().extras[0][row] == origin);
      REQUIRE(dropped_lists[row] == Integers(static_cast<std::size_t>(origin % 3), origin));
    }
    return columns.dense_values(0);
  };
  CHECK(sample(0.3, 1) == sample(0.3, 1));
  CHECK(sample(0.3, 1) != sample(0.3, 2));
  // The deviation of a binomial of 10,000 at 0.3 is 46.
  CHECK(std::abs(static_cast<double>(sample(0.3, 1).size()) - 3000) < 200);
  CHECK(sample(0, 1).empty());
  CHECK(sample(1, 1).size() == 10000);
}

TEST_CASE("spin changes nothing", "[actors][transform]") {
  Columns columns(2);
  columns.dense("x", {1, 2});
  REQUIRE(columns.apply({{"spin", {}, {{"microseconds", 0.5}}}}));
  CHECK(columns.dense_values(0) == Floats{1, 2});
  CHECK(refusal("spin", {}, {{"microseconds", -1.0}}) ==
        "microseconds: must be from 0 to 1e+06, not -1");
}

TEST_CASE("no operator list holds more than the peak it names", "[actors][transform]") {
  const std::vector<TransformSpec> specs{
      {"bucketize", {"d"}, {{"borders", Numbers{0.5}}, {"output", std::string("bd")}}},
      {"one_hot", {"d"}, {{"size", whole(8)}}},
      {"fill", {"a", "b"}, {{"value", whole(3)}}},
      {"cartesian", {"a", "b"}, {{"max_ids", whole(50)}, {"output", std::string("ab")}}},
      {"n_gram", {"a", "b", "ab"}, {{"n", whole(2)}, {"output", std::string("ng")}}},
      {"id_list_intersection", {"ng", "ab"}, {}},
      {"enumerate", {"ab"}, {}},
      {"sampling", {}, {{"rate", 0.9}}},
      {"cosine", {"a", "b"}, {}}};
  Random random(5);
  for (const std::size_t most : {std::size_t{1}, std::size_t{3}, std::size_t{20}}) {
    const std::size_t rows = 700;
    Columns columns(rows);
    Lists a(rows);
    Lists b(rows);
    for (std::size_t row = 0; row < rows; ++row) {
      a[row].resize(random.below(most + 1), 4);
      b[row].resize(random.below(most + 1), 5);
    }
    columns.dense("d", Floats(rows, 1)).sparse("a", a).sparse("b", b);
    const auto plan = TransformPlan::compile(specs, columns.schema());
    REQUIRE(plan);
    const std::size_t before = columns.budget().used();
    const std::size_t decoded = columns.set().bytes();
    REQUIRE(plan->run(columns.set(), columns.context()));
    CHECK(columns.budget().peak() - before <= plan->peak_bytes(rows, decoded) - decoded);
  }
}

}  // namespace
}  // namespace forebay::test
