#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "actors/transform/id_hash.h"
#include "actors/transform/transform.h"
#include "core/base/random.h"
#include "tests/actors/transform/columns_fixture.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using test::Columns;
using test::Lists;
using Params = std::map<std::string, ParamValue>;
using Floats = std::vector<float>;
using Numbers = std::vector<double>;
using Integers = std::vector<std::int64_t>;

constexpr auto kLowest = std::numeric_limits<std::int64_t>::min();
constexpr auto kHighest = std::numeric_limits<std::int64_t>::max();

ParamValue whole(std::int64_t value) { return value; }

/// One dense column `x` through one operator.
Columns dense_through(const std::string& op, const Params& params, const Floats& values) {
  Columns columns(values.size());
  columns.dense("x", values);
  const auto status = columns.apply({{op, {"x"}, params}});
  INFO((status ? "" : status.error().message));
  REQUIRE(status);
  return columns;
}

/// One sparse column `c` through one operator.
Columns sparse_through(const std::string& op, const Params& params, const Lists& lists) {
  Columns columns(lists.size());
  columns.sparse("c", lists);
  const auto status = columns.apply({{op, {"c"}, params}});
  INFO((status ? "" : status.error().message));
  REQUIRE(status);
  return columns;
}

/// Two sparse columns `a` and `b` through one operator.
Columns pair_through(const std::string& op, const Params& params, const Lists& a, const Lists& b) {
  Columns columns(a.size());
  columns.sparse("a", a).sparse("b", b);
  const auto status = columns.apply({{op, {"a", "b"}, params}});
  INFO((status ? "" : status.error().message));
  REQUIRE(status);
  return columns;
}

std::string refusal(const std::string& op, const std::vector<std::string>& names,
                    const Params& params) {
  const Schema schema{{"x", "y"}, {{"a", 0}, {"b", 0}, {"c", 0}}};
  const auto plan = TransformPlan::compile({{op, names, params}}, schema);
  REQUIRE_FALSE(plan);
  const std::string prefix = "transform 1 (" + op + "): ";
  REQUIRE(plan.error().message.substr(0, prefix.size()) == prefix);
  return plan.error().message.substr(prefix.size());
}

TEST_CASE("bucketize gives its reference vectors", "[actors][transform]") {
  const auto result =
      dense_through("bucketize", {{"borders", Numbers{2, 5, 10}}}, {1, 2, 3, 5, 8, 10, 11});
  CHECK(result.lists(0) == Lists{{0}, {0}, {1}, {1}, {2}, {2}, {3}});
  // A doubled border gives the exact value a bucket of its own.
  const auto doubled =
      dense_through("bucketize", {{"borders", Integers{2, 2, 5}}}, {1, 2, 3, 5, 6});
  CHECK(doubled.lists(0) == Lists{{0}, {1}, {2}, {2}, {3}});
}

TEST_CASE("bucketize moves a column to the sparse ones, bounded", "[actors][transform]") {
  Columns columns(3);
  columns.dense("x", {1, missing_value(), 7}).dense("y", {0, 0, 1}).ids("c", {4, 5, 6});
  REQUIRE(columns.apply({{"bucketize", {"x"}, {{"borders", Numbers{2, 5}}}}}));
  CHECK(columns.schema() == Schema{{"y"}, {{"c", 0}, {"x", 3}}});
  CHECK(columns.dense_values(0) == Floats{0, 0, 1});
  CHECK(columns.lists(1) == Lists{{0}, {}, {2}});
}

TEST_CASE("bucketize refuses borders it cannot use", "[actors][transform]") {
  const auto with = [](const ParamValue& borders) {
    return refusal("bucketize", {"x"}, {{"borders", borders}});
  };
  CHECK(with(Numbers{}) == "borders: must not be empty");
  CHECK(with(Numbers{1, 3, 2}) == "borders: must ascend; border 3 is below the one before it");
  CHECK(with(Numbers{1, 1, 1}) ==
        "borders: may hold a value twice at most, as float32; border 3 is its third");
  CHECK(with(Numbers{1e300}) == "borders: must be finite as float32");
  CHECK(with(std::string("2")) == "borders: must be a list of numbers");
  CHECK(refusal("bucketize", {"x"}, {}) == "borders: is missing; give a list of numbers");
}

TEST_CASE("box_cox follows its formula", "[actors][transform]") {
  // λ = 2: (9 - 1) / 2 = 4; λ = 0: log; values below min count as min.
  CHECK(dense_through("box_cox", {{"lambda", 2.0}}, {3, 1}).dense_values(0) == Floats{4, 0});
  const auto log = dense_through("box_cox", {{"lambda", whole(0)}, {"min", 0.5}}, {8, 0.25F});
  CHECK(log.dense_values(0)[0] == Approx(std::log(8.0)));
  CHECK(log.dense_values(0)[1] == Approx(std::log(0.5)));
}

TEST_CASE("logit follows its formula and holds its ends", "[actors][transform]") {
  const auto result = dense_through("logit", {{"eps", 0.01}}, {0.5F, 0.75F, 0, 1, 7});
  CHECK(result.dense_values(0)[0] == 0);
  CHECK(result.dense_values(0)[1] == Approx(std::log(3.0)));
  CHECK(result.dense_values(0)[2] == Approx(std::log(0.01 / 0.99)));
  CHECK(result.dense_values(0)[3] == Approx(std::log(99.0)));
  CHECK(result.dense_values(0)[4] == Approx(std::log(99.0)));
  CHECK(refusal("logit", {"x"}, {{"eps", 0.7}}) == "eps: must be from 1e-12 to 0.499, not 0.7");
}

TEST_CASE("clamp holds values and ids within its limits", "[actors][transform]") {
  CHECK(dense_through("clamp", {{"min", -1.5}, {"max", whole(2)}}, {-9, 0.5F, 9}).dense_values(0) ==
        Floats{-1.5F, 0.5F, 2});
  const auto ids = sparse_through("clamp", {{"min", whole(0)}, {"max", whole(9)}},
                                  {{kLowest, 5}, {}, {kHighest}});
  CHECK(ids.lists(0) == Lists{{0, 5}, {}, {9}});
  CHECK(ids.schema().sparse[0].bound == 10);
  CHECK(sparse_through("clamp", {{"max", whole(9)}}, {{-3, 10}}).lists(0) == Lists{{-3, 9}});
  CHECK(refusal("clamp", {"x"}, {}) == "min: give min, max or both");
  CHECK(refusal("clamp", {"x"}, {{"min", 2.0}, {"max", 1.0}}) == "min: must not be above max");
  CHECK(refusal("clamp", {"a"}, {{"min", 0.5}}) == "min: must be a whole number");
}

TEST_CASE("clamp narrows the bound that a column had", "[actors][transform]") {
  Columns columns(1);
  columns.ids("c", {50});
  REQUIRE(columns.apply({{"positive_modulus", {"c"}, {{"modulus", whole(100)}}},
                         {"clamp", {"c"}, {{"max", whole(20)}}}}));
  CHECK(columns.schema().sparse[0].bound == 21);
}

TEST_CASE("fill gives missing values and empty lists a value", "[actors][transform]") {
  Columns columns(3);
  columns.dense("x", {1, missing_value(), 3}).sparse("c", {{}, {4, 5}, {}}).ids("d", {1, 2, 3});
  REQUIRE(columns.apply({{"fill", {"*"}, {{"value", whole(8)}}}}));
  CHECK(columns.dense_values(0) == Floats{1, 8, 3});
  CHECK(columns.lists(0) == Lists{{8}, {4, 5}, {8}});
  CHECK(columns.lists(1) == Lists{{1}, {2}, {3}});
}

TEST_CASE("fill widens a bound that its value passes", "[actors][transform]") {
  Columns columns(1);
  columns.sparse("c", {{}});
  REQUIRE(columns.apply({{"positive_modulus", {"c"}, {{"modulus", whole(5)}}},
                         {"fill", {"c"}, {{"value", whole(9)}}}}));
  CHECK(columns.schema().sparse[0].bound == 10);
}

TEST_CASE("local_hour takes seconds to hours, before 1970 too", "[actors][transform]") {
  // 3600 s is 01:00; one second before 1970 is 23:59:59; an offset of -2 h at 01:00 is 23:00.
  const auto utc = sparse_through("local_hour", {}, {{3600, -1}, {}, {86400 + 7200}});
  CHECK(utc.lists(0) == Lists{{1, 23}, {}, {2}});
  CHECK(utc.schema().sparse[0].bound == 24);
  const auto west = sparse_through("local_hour", {{"tz_offset", whole(-7200)}}, {{3600}});
  CHECK(west.lists(0) == Lists{{23}});
  CHECK(dense_through("local_hour", {}, {-0.5F, 7200, missing_value()}).dense_values(0) ==
        Floats{23, 2, 0});
  CHECK(sparse_through("local_hour", {{"tz_offset", whole(3600)}}, {{kHighest}}).lists(0) ==
        Lists{{(kHighest % 86400 + 3600) / 3600 % 24}});
}

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
}

TEST_CASE("id_list_intersection keeps shared ids once, in order", "[actors][transform]") {
  CHECK(pair_through("id_list_intersection", {}, {{3, 1, 3, 2}, {1}, {}}, {{2, 3, 3}, {2}, {1}})
            .lists(0) == Lists{{3, 2}, {}, {}});
}

TEST_CASE("enumerate gives each id its place", "[actors][transform]") {
  const auto result = sparse_through("enumerate", {{"start", whole(1)}}, {{7, 7, 9}, {}, {4}});
  CHECK(result.schema().sparse == std::vector<SparseFeature>{{"c", 0}, {"c_index", 0}});
  CHECK(result.lists(0) == Lists{{7, 7, 9}, {}, {4}});
  CHECK(result.lists(1) == Lists{{1, 2, 3}, {}, {1}});
}

TEST_CASE("similarities of plain lists give their reference vectors", "[actors][transform]") {
  const Lists a{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 10, 11, 12}, {}, {1, 1, 2, 3}};
  const Lists b{{1, 2, 3}, {0, 10}, {7, 10, 10}, {10, 10, 11, 13}, {}, {1, 2, 3}};
  const auto score = [&](const std::string& op) {
    return pair_through(op, {}, a, b).dense_values(0);
  };
  CHECK(score("has_id_overlap") == Floats{1, 0, 1, 1, 0, 1});
  CHECK(score("id_overlap_count") == Floats{3, 0, 1, 3, 0, 3});
  CHECK(score("get_max_count") == Floats{3, 0, 1, 3, 0, 4});
  CHECK(score("jaccard") == Floats{1, 0, 0.2F, 0.6F, 0, 0.75F});
  CHECK(score("score_sum") == Floats{3, 0, 1, 3, 0, 3});
}

/// Lists a and b with scores sa and sb through one operator.
Floats scored(const std::string& op, bool both, const Lists& a, const Lists& sa, const Lists& b,
              const Lists& sb) {
  Columns columns(a.size());
  columns.sparse("a", a).sparse("b", b).sparse("sa", sa).sparse("sb", sb);
  Params params{{"matching_scores", std::string("sb")}, {"output", std::string("s")}};
  if (both) params.emplace("scores", std::string("sa"));
  REQUIRE(columns.apply({{op, {"a", "b"}, params}}));
  return columns.dense_values(0);
}

TEST_CASE("similarities of scored lists give their reference vectors", "[actors][transform]") {
  const Lists ids{{1, 2, 3}};
  CHECK(scored("cosine", true, ids, {{1, 2, 3}}, ids, {{5, 4, 3}})[0] == Approx(0.831522));
  // The ids 1 and 2 are shared; their scores on the second side are 5 and 4.
  CHECK(scored("score_sum", false, {{1, 2}}, {{0, 0}}, {{1, 2, 3}}, {{5, 4, 3}}) == Floats{9});
  // 10 has the scores 10, 10; 11 has 11; 12 and 13 are not shared.
  const Lists a{{10, 10, 11, 12}, {7, 8, 9}};
  const Lists b{{10, 10, 11, 13}, {7, 10, 10}};
  CHECK(scored("score_sum", false, a, a, b, b) == Floats{31, 7});
  CHECK(scored("score_min", false, a, a, b, b) == Floats{10, 7});
  CHECK(scored("score_max", false, a, a, b, b) == Floats{11, 7});
  // Of an id's several scores the least and the greatest count, wherever they stand.
  const Lists repeated{{10, 10, 11, 13}};
  const Lists scores{{12, 10, 11, 13}};
  CHECK(scored("score_min", false, {{10}}, {{0}}, repeated, scores) == Floats{10});
  CHECK(scored("score_max", false, {{10}}, {{0}}, repeated, scores) == Floats{12});
  const double cosine = (20.0 * 20 + 11 * 11) / std::sqrt(20.0 * 20 + 11 * 11 + 12 * 12) /
                        std::sqrt(20.0 * 20 + 11 * 11 + 13 * 13);
  CHECK(scored("cosine", true, a, a, b, b)[0] == Approx(cosine));
}

TEST_CASE("scores of another length fail the run and name the row", "[actors][transform]") {
  Columns columns(2);
  columns.sparse("a", {{1}, {1, 2}}).sparse("b", {{1}, {1, 2}}).sparse("s", {{1}, {1}});
  const auto failed =
      columns.apply({{"score_sum", {"a", "b"}, {{"matching_scores", std::string("s")}}}});
  REQUIRE_FALSE(failed);
  CHECK(failed.error().message ==
        "transform 1 (score_sum): clicks.tsv, row at byte 100: 2 ids have 1 scores");
}

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
    REQUIRE(columns.apply({{"sampling", {}, {{"rate", rate}, {"salt", whole(salt)}}}}));
    const std::size_t rows = columns.set().rows;
    const auto dropped_lists = columns.lists(1);
    for (std::size_t row = 0; row < rows; ++row) {
      const auto origin = static_cast<std::int64_t>(columns.set().origins[row].offset() / 100);
      REQUIRE(columns.set().labels[row] == static_cast<float>(origin));
      REQUIRE(columns.set().dense[0][row] == static_cast<float>(origin));
      REQUIRE(columns.set().sparse[0].values[row] == origin);
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

TEST_CASE("what stays missing in a dense column ends as 0", "[actors][transform]") {
  for (const auto& [op, params] :
       std::vector<std::pair<std::string, Params>>{{"log1p", {}},
                                                   {"logit", {}},
                                                   {"box_cox", {{"lambda", 2.0}}},
                                                   {"clamp", {{"min", 1.0}}},
                                                   {"local_hour", {}}}) {
    INFO(op);
    CHECK(dense_through(op, params, {missing_value()}).dense_values(0) == Floats{0});
  }
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
}  // namespace forebay
