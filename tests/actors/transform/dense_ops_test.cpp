#include <cmath>
#include <limits>

#include "tests/actors/transform/ops_fixture.h"

#include "tests/support/catch.h"

namespace forebay::test {
namespace {

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

TEST_CASE("log gives TorchRec's dense values, blanks 0", "[actors][transform]") {
  // numpy.log(numpy.int32(x) + 3, dtype=float32) of 0, 1, 5, 1382, 2^31 - 4, -2 and of a blank.
  const auto result = dense_through("log", {{"add", whole(3)}},
                                    {0, 1, 5, 1382, 2147483644.0F, -2, missing_value()});
  const Floats expected{0x1.193ea8p+0F, 0x1.62e43p+0F,  0x1.0a2b24p+1F,
                        0x1.cef0fp+2F,  0x1.57cd0ep+4F, 0,
                        0x1.193ea8p+0F};
  for (std::size_t row = 0; row < expected.size(); ++row) {
    CHECK(result.dense_values(0)[row] == Approx(expected[row]).epsilon(2e-7));
  }
  const auto outside = dense_through("log", {{"add", whole(3)}}, {-3, -4}).dense_values(0);
  CHECK(outside[0] == -std::numeric_limits<float>::infinity());
  CHECK(std::isnan(outside[1]));
  CHECK(refusal("log", {"x"}, {}) == "add: is missing; give a number");
  CHECK(refusal("log", {"x"}, {{"add", whole(0)}}) == "add: must be from 1e-06 to 1e+09, not 0");
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

TEST_CASE("a value still missing in a dense column becomes 0", "[actors][transform]") {
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

}  // namespace
}  // namespace forebay::test
