#include "actors/transform/transform.h"

#include <cmath>
#include <string>
#include <vector>

#include "tests/actors/transform/columns_fixture.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using test::Columns;
using test::Lists;

std::string refusal(const TransformSpec& spec) {
  const Schema schema{{"I1", "I2"}, {{"C1", 0}, {"C2", 0}}};
  const auto plan = TransformPlan::compile({{"log1p", {"I*"}, {}}, spec}, schema);
  REQUIRE_FALSE(plan);
  CHECK(plan.error().code == Code::kInvalid);
  return plan.error().message;
}

TEST_CASE("a plan without operators turns missing values into 0", "[actors][transform]") {
  Columns columns(2);
  columns.dense("I1", {missing_value(), 2}).sparse("C1", {{}, {5}});
  REQUIRE(columns.apply({}));
  CHECK(columns.dense_values(0) == std::vector<float>{0, 2});
  CHECK(columns.lists(0) == Lists{{}, {5}});
}

TEST_CASE("a plan runs its operators over the columns its globs match", "[actors][transform]") {
  Columns columns(2);
  columns.dense("I1", {0, static_cast<float>(std::exp(1.0) - 1)}).dense("J1", {5, missing_value()});
  columns.ids("C1", {1, 2}).ids("D1", {3, 4});
  REQUIRE(columns.apply(
      {{"log1p", {"I*"}, {}}, {"sigrid_hash", {"C*"}, {{"max_value", std::int64_t{100}}}}}));
  CHECK(columns.dense_values(0)[1] == Approx(1));
  CHECK(columns.dense_values(1) == std::vector<float>{5, 0});
  CHECK(columns.lists(0) == Lists{{60}, {54}});
  CHECK(columns.lists(1) == Lists{{3}, {4}});
  CHECK(columns.schema().sparse[0] == SparseFeature{"C1", 100});
  CHECK(columns.schema().sparse[1] == SparseFeature{"D1", 0});
}

TEST_CASE("an operator with an output keeps its source", "[actors][transform]") {
  Columns columns(1);
  columns.dense("a", {0}).dense("b", {missing_value()}).sparse("c", {{1, 2}});
  REQUIRE(columns.apply(
      {{"log1p", {"*"}, {{"output", std::string("log_{}")}}},
       {"sigrid_hash", {"c"}, {{"max_value", std::int64_t{100}}, {"output", std::string("h")}}}}));
  CHECK(columns.schema().dense == std::vector<std::string>{"a", "b", "log_a", "log_b"});
  CHECK(columns.schema().sparse == std::vector<SparseFeature>{{"c", 0}, {"h", 100}});
  CHECK(columns.lists(0) == Lists{{1, 2}});
  CHECK(columns.lists(1) == Lists{{60, 54}});
}

TEST_CASE("operators end when the run is cancelled, and spin before its time is over",
          "[actors][transform]") {
  Columns columns(4);
  columns.dense("I1", {1, 2, 3, 4});
  // Four seconds of spinning, which ends at its second look.
  auto plan = TransformPlan::compile({{"spin", {}, {{"microseconds", 1e6}}}}, columns.schema());
  REQUIRE(plan);
  int looks = 0;
  StepStates actor;
  TransformContext context = columns.context();
  context.actor = &actor;
  actor.cancelled = [&looks] { return ++looks > 2; };
  const auto stopped = plan->run(columns.set(), context);
  REQUIRE_FALSE(stopped);
  CHECK(stopped.error().message == "[[transform]] number 1 (spin): stopped");
  CHECK(looks == 3);
  const auto not_begun = plan->run(columns.set(), context);
  REQUIRE_FALSE(not_begun);
  CHECK(not_begun.error().message == "stopped");
}

TEST_CASE("every run of an operator is measured from when it is asked for", "[actors][transform]") {
  Columns columns(4);
  columns.dense("I1", {1, 2, 3, 4});
  auto plan = TransformPlan::compile(
      {{"log1p", {"I1"}, {}}, {"spin", {}, {{"microseconds", 500.0}}}}, columns.schema());
  REQUIRE(plan);
  REQUIRE(plan->run(columns.set(), columns.context()));
  const auto before = plan->operator_times();
  REQUIRE(plan->run(columns.set(), columns.context()));  // The second is none of those few.
  CHECK(plan->operator_times()[1].cpu == before[1].cpu);
  plan->measure_operators();
  for (int i = 0; i < 2; ++i) REQUIRE(plan->run(columns.set(), columns.context()));
  const auto times = plan->operator_times();
  REQUIRE(times.size() == 2);
  CHECK(times[0].name == "transform 1 (log1p)");
  CHECK(times[1].number == 1);
  CHECK(times[0].time > before[0].time);
  // Two runs of four rows; the spin ends by the same clock.
  const auto spun = times[1].cpu - before[1].cpu;
  CHECK(spun >= std::chrono::milliseconds(4));
  CHECK(spun > times[0].cpu - before[0].cpu);
}

TEST_CASE("a refusal names the transform, the key and the nearest name", "[actors][transform]") {
  CHECK(refusal({"log2p", {"I1"}, {}}) ==
        "[[transform]] number 2 (log2p): op: unknown operator; did you mean \"log1p\"?");
  CHECK(refusal({"log1p", {"I1"}, {{"outptu", std::string("x")}}}) ==
        "[[transform]] number 2 (log1p): outptu: unknown parameter; did you mean \"output\"?");
  CHECK(refusal({"log1p", {}, {{"colums", std::string("I1")}}}) ==
        "[[transform]] number 2 (log1p): colums: unknown parameter; did you mean \"columns\"?");
  CHECK(refusal({"log1p", {"K*"}, {}}) ==
        "[[transform]] number 2 (log1p): columns: \"K*\" matches no column");
  CHECK(refusal({"log1p", {"I3"}, {}}) ==
        "[[transform]] number 2 (log1p): columns: no column \"I3\"; did you mean \"I1\"?");
  CHECK(refusal({"log1p", {}, {}}) ==
        "[[transform]] number 2 (log1p): columns: name at least one column");
  CHECK(refusal({"log1p", {"C*"}, {}}) ==
        "[[transform]] number 2 (log1p): columns: \"C*\" is sparse, the operator takes dense "
        "columns");
  CHECK(refusal({"sigrid_hash", {"C1"}, {}}) ==
        "[[transform]] number 2 (sigrid_hash): max_value: is missing; give a whole number");
  CHECK(refusal({"sigrid_hash", {"C1"}, {{"max_value", std::int64_t{0}}}}) ==
        "[[transform]] number 2 (sigrid_hash): max_value: must be at least 1, not 0");
  CHECK(refusal({"sigrid_hash", {"C1"}, {{"max_value", 1.5}}}) ==
        "[[transform]] number 2 (sigrid_hash): max_value: must be a whole number");
  CHECK(refusal({"log1p", {"I1", "I2"}, {{"output", std::string("x")}}}) ==
        "[[transform]] number 2 (log1p): output: needs {} for the column's name, as there are 2 "
        "columns");
  CHECK(refusal({"log1p", {"I1"}, {{"output", std::string("C2")}}}) ==
        "[[transform]] number 2 (log1p): output: \"C2\" is a column already");
}

TEST_CASE("a column whose name looks like a pattern is found by its name", "[actors][transform]") {
  const Schema schema{{"a[0]", "a0", "b*", "bb"}, {}};
  const auto copied = [&](const std::string& pattern) {
    const auto plan =
        TransformPlan::compile({{"log1p", {pattern}, {{"output", std::string("{}_2")}}}}, schema);
    REQUIRE(plan);
    return std::vector<std::string>(plan->output().dense.begin() + 4, plan->output().dense.end());
  };
  CHECK(copied("a[0]") == std::vector<std::string>{"a[0]_2"});
  CHECK(copied("b*") == std::vector<std::string>{"b*_2"});
  CHECK(copied("a[0-9]") == std::vector<std::string>{"a0_2"});
}

TEST_CASE("operators that only add columns refuse an output that is no name",
          "[actors][transform]") {
  const Schema schema{{"x"}, {{"a", 0}, {"b", 0}}};
  const auto refusal = [&](const TransformSpec& spec) {
    const auto plan = TransformPlan::compile({spec}, schema);
    REQUIRE_FALSE(plan);
    return plan.error().message.substr(plan.error().message.find("output: "));
  };
  const std::string no_name = "output: must be a string: the result's name";
  const std::string no_hole = "output: needs {} for the column's name, as there are 2 columns";
  for (const std::string op : {"one_hot", "enumerate"}) {
    std::map<std::string, ParamValue> params{{"output", std::int64_t{5}}};
    if (op == "one_hot") params["size"] = std::int64_t{2};
    CHECK(refusal({op, {"a"}, params}) == no_name);
    params["output"] = std::string("c");
    CHECK(refusal({op, {"a", "b"}, params}) == no_hole);
  }
}

TEST_CASE("stages run their operators, and the last one sets missing values to 0",
          "[actors][transform]") {
  Columns columns(2);
  columns.dense("a", {missing_value(), 0}).dense("b", {1, 2});
  const auto plan = TransformPlan::compile(
      {{"log1p", {"a"}, {{"output", std::string("c")}}, ""}, {"log1p", {"c"}, {}, "late"}},
      columns.schema());
  REQUIRE(plan);
  REQUIRE(plan->stages().size() == 5);
  REQUIRE(plan->run(plan->stages()[3], columns.set(), columns.context()));
  REQUIRE(columns.set().dense.size() == 3);
  CHECK(is_missing(columns.dense_values(0)[0]));
  CHECK(is_missing(columns.dense_values(2)[0]));
  REQUIRE(plan->run(plan->stages()[4], columns.set(), columns.context()));
  CHECK(columns.dense_values(0) == std::vector<float>{0, 0});
  CHECK(columns.dense_values(1) == std::vector<float>{1, 2});
  CHECK(columns.dense_values(2) == std::vector<float>{0, 0});
}

TEST_CASE("the fingerprint tells operator lists apart", "[actors][transform]") {
  const Schema schema{{"I1", "I2"}, {{"C1", 0}}};
  const auto print = [&](const std::vector<TransformSpec>& specs) {
    return TransformPlan::compile(specs, schema)->fingerprint();
  };
  const TransformSpec log{"log1p", {"I1"}, {}};
  const auto hash = [](std::int64_t salt) {
    return TransformSpec{"sigrid_hash", {"C1"}, {{"max_value", std::int64_t{9}}, {"salt", salt}}};
  };
  CHECK(print({log, hash(1)}) == print({log, hash(1)}));
  CHECK(print({log, hash(1)}) != print({log, hash(2)}));
  CHECK(print({log, hash(1)}) != print({hash(1), log}));
  CHECK(print({log}) != print({{"log1p", {"I2"}, {}}}));
  CHECK(print({log}) != print({log, log}));
  CHECK(print({log}) == print({{"log1p", {"I1"}, {}, "late"}}));  // the cut changes no value
}

TEST_CASE("a run holds no more than the peak it names", "[actors][transform]") {
  Columns columns(1000);
  columns.dense("a", std::vector<float>(1000)).ids("c", std::vector<std::int64_t>(1000, 3));
  const std::vector<TransformSpec> specs{
      {"log1p", {"a"}, {{"output", std::string("b")}}},
      {"sigrid_hash", {"c"}, {{"max_value", std::int64_t{9}}, {"output", std::string("d")}}}};
  const auto plan = TransformPlan::compile(specs, columns.schema());
  REQUIRE(plan);
  const std::size_t before = columns.budget().used();
  REQUIRE(plan->run(columns.set(), columns.context()));
  CHECK(columns.budget().peak() > before);
  CHECK(columns.budget().peak() <= plan->peak_bytes(1000, before));
}

TEST_CASE("the ids of a batch are bounded by its rows, its lists and what operators make of them",
          "[actors][transform]") {
  const Schema schema{.dense = {"x"}, .sparse = {{"a", 0}, {"b", 0}, {"long", 0}}};
  const auto most = [&](const std::vector<TransformSpec>& specs) {
    return TransformPlan::compile(specs, schema)->most_ids(100, {false, false, true}, 5000);
  };
  const auto whole = [](std::int64_t number) { return number; };
  CHECK(most({}) == MostIds{5200, {100, 100, 5000}});
  // Of columns with one id each there is one pair a row; of a list as many as max_ids.
  CHECK(most({{"cartesian", {"a", "b"}, {}}}) == MostIds{5200, {100, 100, 5000}});
  CHECK(most({{"cartesian", {"a", "long"}, {{"max_ids", whole(650)}}}}) ==
        MostIds{65'000 + 5100, {65'000, 100, 5000}});
  CHECK(most({{"first_x", {"long"}, {{"x", whole(3)}}}}) == MostIds{500, {100, 100, 300}});
  CHECK(most({{"fill", {"a"}, {}}}) == MostIds{5200, {100, 100, 5000}});
  CHECK(most({{"n_gram", {"*"}, {{"n", whole(2)}}}}).of_feature[0] == 5200);
  CHECK(most({{"bucketize", {"x"}, {{"borders", std::vector<double>{1, 2}}}}}).of_feature[3] ==
        100);
}

TEST_CASE("the name of a column that was dropped may be given again, and no other name",
          "[actors][transform]") {
  const Schema schema{.dense = {"x"}, .sparse = {{"a", 0}}};
  const TransformSpec drops{"one_hot", {"a"}, {{"size", std::int64_t{1}}}};
  const TransformSpec again{"clamp", {"x"}, {{"min", 0.0}, {"output", std::string("a")}}};
  CHECK_FALSE(TransformPlan::compile({again}, schema));
  const auto plan = TransformPlan::compile({drops, again}, schema);
  REQUIRE(plan);
  CHECK(plan->output().dense == std::vector<std::string>{"x", "a_0", "a"});
  CHECK_FALSE(TransformPlan::compile({drops, again, again}, schema));
}

TEST_CASE("columns of a hundred thousand names are compiled", "[actors][transform]") {
  Schema schema;
  for (int i = 0; i < 25; ++i) schema.sparse.push_back({"c" + std::to_string(i), 0});
  const auto plan =
      TransformPlan::compile({{"one_hot", {"c*"}, {{"size", std::int64_t{4096}}}}}, schema);
  REQUIRE(plan);
  CHECK(plan->output().dense.size() == 25 * 4096);
}

TEST_CASE("a column may hold lists where an operator may make more than one id of a row",
          "[actors][transform]") {
  const Schema schema{.dense = {"x"}, .sparse = {{"a", 0}, {"b", 0}, {"c", 0}, {"long", 0}}};
  using Flags = std::vector<bool>;
  const auto lists = [&](const TransformSpec& spec) {
    return TransformPlan::compile({spec}, schema)->lists({false, false, false, true});
  };
  const auto n = [](std::int64_t number) {
    return std::map<std::string, ParamValue>{{"n", number}};
  };
  CHECK(lists({"clamp", {"a"}, {{"min", std::int64_t{0}}}}) == Flags{false, false, false, true});
  // Three ids have two neighbours, two have one.
  CHECK(lists({"n_gram", {"a", "b", "c"}, n(2)}) == Flags{true, false, false, true});
  CHECK(lists({"n_gram", {"a", "b"}, n(2)}) == Flags{false, false, false, true});
  CHECK(lists({"n_gram", {"a", "long"}, n(2)}) == Flags{true, false, false, true});
  CHECK(lists({"cartesian", {"a", "b"}, {}}) == Flags{false, false, false, true});
  CHECK(lists({"cartesian", {"a", "long"}, {}}) == Flags{true, false, false, true});
  CHECK(lists({"id_list_intersection", {"long", "b"}, {}}) == Flags{false, false, false, false});
  CHECK(lists({"fill", {"a"}, {}}) == Flags{false, false, false, true});
  CHECK(lists({"first_x", {"long"}, {{"x", std::int64_t{1}}}}) == Flags(4, false));
  CHECK(lists({"first_x", {"long"}, {{"x", std::int64_t{2}}}}) == Flags{false, false, false, true});
}

}  // namespace
}  // namespace forebay
