#include <string>
#include <vector>

#include "actors/transform/kernels.h"
#include "actors/transform/transform.h"
#include "tests/actors/transform/ops_fixture.h"

#include "tests/support/catch.h"

namespace forebay::test {
namespace {

TEST_CASE("one_hot marks the ids a row holds", "[actors][transform]") {
  Columns columns(4);
  columns.dense("x", {1, missing_value(), 3, 0.5F}).sparse("c", {{0, 2}, {}, {-1, 3}, {1}});
  REQUIRE(columns.apply({{"one_hot", {"x", "c"}, {{"size", whole(3)}}}}));
  CHECK(columns.schema() == Schema{{"x_0", "x_1", "x_2", "c_0", "c_1", "c_2"}, {}});
  CHECK(columns.dense_values(0) == Floats{0, 0, 0, 1});
  CHECK(columns.dense_values(1) == Floats{1, 0, 0, 0});
  CHECK(columns.dense_values(2) == Floats{0, 0, 0, 0});
  CHECK(columns.dense_values(3) == Floats{1, 0, 0, 0});
  CHECK(columns.dense_values(4) == Floats{0, 0, 0, 1});
  CHECK(columns.dense_values(5) == Floats{1, 0, 0, 0});
}

TEST_CASE("positive_modulus is never negative", "[actors][transform]") {
  const auto result =
      sparse_through("positive_modulus", {{"modulus", whole(7)}}, {{-1, -7, -8, 13}, {kLowest}});
  // -2^63 mod 7: 2^63 = (2^3)^21 = 1 mod 7, so -1 mod 7 = 6.
  CHECK(result.lists(0) == Lists{{6, 0, 6, 6}, {6}});
  CHECK(result.schema().sparse[0].bound == 7);
}

TEST_CASE("map_id looks ids up and has a default", "[actors][transform]") {
  const auto result = sparse_through(
      "map_id",
      {{"keys", Integers{10, -20, kLowest}}, {"values", Integers{1, 2, 7}}, {"default", whole(3)}},
      {{10, 11, -20}, {}, {kLowest}});
  CHECK(result.lists(0) == Lists{{1, 3, 2}, {}, {7}});
  CHECK(result.schema().sparse[0].bound == 8);
  CHECK(refusal("map_id", {"a"}, {{"keys", Integers{1, 2}}, {"values", Integers{1}}}) ==
        "values: must be as many as the keys: 2, not 1");
  CHECK(refusal("map_id", {"a"}, {{"keys", Integers{1, 1}}, {"values", Integers{1, 2}}}) ==
        "keys: has 1 twice");
}

TEST_CASE("first_x cuts lists", "[actors][transform]") {
  CHECK(sparse_through("first_x", {{"x", whole(2)}}, {{1, 2, 3}, {}, {4}, {5, 6}, {7, 8, 9}})
            .lists(0) == Lists{{1, 2}, {}, {4}, {5, 6}, {7, 8}});
  CHECK(refusal("first_x", {"a"}, {{"x", whole(0)}}) == "x: must be at least 1, not 0");
}

TEST_CASE("n_gram hashes runs of ids across columns", "[actors][transform]") {
  const auto grams =
      pair_through("n_gram", {{"n", whole(2)}}, {{1, 2}, {1}, {}, {2}}, {{3}, {2}, {9}, {1}});
  const Lists lists = grams.lists(0);
  // [1,2,3] has the runs 12 and 23; [1,2] has 12; [9] none; [2,1] has 21, which is not 12.
  REQUIRE(lists[0].size() == 2);
  CHECK(lists[1] == std::vector<std::int64_t>{lists[0][0]});
  CHECK(lists[2].empty());
  CHECK(lists[3].size() == 1);
  CHECK(lists[3] != lists[1]);
  CHECK(lists[0][0] != lists[0][1]);
  CHECK(grams.lists(1) == Lists{{3}, {2}, {9}, {1}});
  const auto hash = hash_128_to_64(hash_128_to_64(2, twang_mix64(1)), twang_mix64(2));
  CHECK(lists[0][0] == static_cast<std::int64_t>(hash));
  CHECK(refusal("n_gram", {"a"}, {{"n", whole(0)}}) == "n: must be from 1 to 64, not 0");
}

TEST_CASE("cartesian hashes all pairs, up to its limit", "[actors][transform]") {
  const auto pair = [](std::uint64_t x, std::uint64_t y) {
    return static_cast<std::int64_t>(hash_128_to_64(twang_mix64(x), twang_mix64(y)));
  };
  const Params output{{"output", std::string("ab")}};
  const auto all = pair_through("cartesian", output, {{1, 2}, {}, {3}}, {{5, 6}, {5}, {7}});
  CHECK(all.schema().sparse[2] == SparseFeature{"ab", 0});
  CHECK(all.lists(2) == Lists{{pair(1, 5), pair(1, 6), pair(2, 5), pair(2, 6)}, {}, {pair(3, 7)}});
  const auto few = pair_through("cartesian", {{"max_ids", whole(3)}}, {{1, 2}}, {{5, 6}});
  CHECK(few.lists(0) == Lists{{pair(1, 5), pair(1, 6), pair(2, 5)}});
  CHECK(refusal("cartesian", {"a"}, {}) == "columns: takes two columns, not 1");
  CHECK(refusal("cartesian", {"a", "b"}, {{"output", whole(1)}}) ==
        "output: must be a string: the result's name");
}

TEST_CASE("id_list_intersection keeps shared ids once, in order", "[actors][transform]") {
  CHECK(pair_through("id_list_intersection", {}, {{3, 1, 3, 2}, {1}, {}}, {{2, 3, 3}, {2}, {1}})
            .lists(0) == Lists{{3, 2}, {}, {}});
}

TEST_CASE("enumerate gives each id its position", "[actors][transform]") {
  const auto result = sparse_through("enumerate", {{"start", whole(1)}}, {{7, 7, 9}, {}, {4}});
  CHECK(result.schema().sparse == std::vector<SparseFeature>{{"c", 0}, {"c_index", 0}});
  CHECK(result.lists(0) == Lists{{7, 7, 9}, {}, {4}});
  CHECK(result.lists(1) == Lists{{1, 2, 3}, {}, {1}});
}

TEST_CASE("a column without offsets goes through every list operator", "[actors][transform]") {
  const std::vector<TransformSpec> specs{
      {"first_x", {"a"}, {{"x", whole(1)}}},
      {"n_gram", {"a", "b"}, {{"n", whole(2)}, {"output", std::string("n")}}},
      {"cartesian", {"a", "b"}, {{"output", std::string("x")}}},
      {"id_list_intersection", {"a", "b"}, {{"output", std::string("i")}}},
      {"enumerate", {"a"}, {}},
      {"jaccard", {"a", "b"}, {{"output", std::string("j")}}}};
  Columns flat(2);
  REQUIRE(flat.ids("a", {1, 2}).ids("b", {1, 3}).apply(specs));
  Columns listed(2);
  REQUIRE(listed.sparse("a", {{1}, {2}}).sparse("b", {{1}, {3}}).apply(specs));
  for (std::size_t i = 0; i < 6; ++i) CHECK(flat.lists(i) == listed.lists(i));
  CHECK(flat.dense_values(0) == Floats{1, 0});
  CHECK(listed.dense_values(0) == Floats{1, 0});
}

}  // namespace
}  // namespace forebay::test
