#include <cmath>
#include <string>

#include "tests/actors/transform/ops_fixture.h"

#include "tests/support/catch.h"

namespace forebay::test {
namespace {

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
  // Of an id's several scores the least and the greatest count, at any position.
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
        "[[transform]] number 1 (score_sum): clicks.tsv, row at byte 100: 2 ids have 1 scores");
}

}  // namespace
}  // namespace forebay::test
