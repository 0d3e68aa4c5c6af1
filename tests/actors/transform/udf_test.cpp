#include <map>
#include <string>
#include <vector>

#include "actors/transform/transform.h"
#include "core/base/thread/user_code.h"
#include "tests/actors/transform/columns_fixture.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using test::Columns;
using test::Lists;
using Floats = std::vector<float>;
using Names = std::vector<std::string>;

const std::string kLibrary = FOREBAY_UDF_LIBRARY;

TransformSpec udf(const std::string& function, const Names& columns,
                  std::map<std::string, ParamValue> params = {}) {
  params.emplace("library", kLibrary);
  params.emplace("function", function);
  return {"udf", columns, std::move(params)};
}

std::string failure(Columns& columns, const TransformSpec& spec) {
  const auto status = columns.apply({spec});
  REQUIRE_FALSE(status);
  CHECK(status.error().code == Code::kInvalid);
  return status.error().message;
}

TEST_CASE("a user's function changes dense columns in place", "[actors][udf]") {
  Columns columns(3);
  columns.dense("x", {1, missing_value(), 3}).dense("y", {4, 5, 6});
  REQUIRE(columns.apply({udf("scale", {"x"}, {{"params", std::string("2")}})}));
  CHECK(columns.dense_values(0) == Floats{2, 0, 6});
  CHECK(columns.dense_values(1) == Floats{4, 5, 6});
}

TEST_CASE("a user's function in C changes dense columns in place", "[actors][udf]") {
  Columns columns(2);
  columns.dense("x", {1, 2});
  REQUIRE(columns.apply({udf("plain_c", {"x"})}));
  CHECK(columns.dense_values(0) == Floats{2, 3});
}

TEST_CASE("a user's function replaces lists, as far as they may grow", "[actors][udf]") {
  const auto grow = udf("repeat", {"c"}, {{"max_ids", std::int64_t{2}}});
  Columns columns(3);
  columns.sparse("c", {{1, 2}, {}, {3}});
  REQUIRE(columns.apply({grow}));
  CHECK(columns.lists(0) == Lists{{1, 2, 1, 2}, {}, {3, 3}});

  Columns flat(2);
  REQUIRE(flat.ids("c", {8, 9}).apply({grow}));
  CHECK(flat.lists(0) == Lists{{8, 8}, {9, 9}});

  Columns full(2);
  full.sparse("c", {{}, {1}});
  CHECK(failure(full, udf("repeat", {"c"})) ==
        "[[transform]] number 1 (udf): repeat: clicks.tsv, row at byte 100: 2 ids for 1 rows, 1 "
        "fit; raise "
        "max_ids");
}

TEST_CASE("a user's function fills further columns", "[actors][udf]") {
  Columns columns(3);
  columns.sparse("c", {{5, 6}, {}, {7}});
  REQUIRE(columns.apply(
      {udf("describe", {"c"}, {{"new_dense", Names{"count"}}, {"new_sparse", Names{"first"}}})}));
  CHECK(columns.schema() == Schema{{"count"}, {{"c", 0}, {"first", 0}}});
  CHECK(columns.dense_values(0) == Floats{2, 0, 1});
  CHECK(columns.lists(1) == Lists{{5}, {}, {7}});
}

TEST_CASE("lists that a user's function may replace are of any length, however few their ids",
          "[actors][udf]") {
  const Schema schema{.dense = {}, .sparse = {{"a", 0}, {"b", 0}}};
  const auto most = [&](const TransformSpec& next) {
    const auto plan = TransformPlan::compile({udf("plain_c", {"a", "b"}), next}, schema);
    REQUIRE(plan);
    return plan->most_ids(100, {false, false}, 0);
  };
  // Ten rows of ten ids in each column: 10 * min(10 * 10, 64) pairs.
  CHECK(most({"cartesian", {"a", "b"}, {}}).of_feature[0] >= 640);
  // One row of 100 ids, and 99 empty ones.
  CHECK(most({"fill", {"a"}, {}}).of_feature[0] >= 199);

  const auto plan = TransformPlan::compile({udf("plain_c", {"a"})}, schema);
  REQUIRE(plan);
  CHECK(plan->lists({false, false}) == std::vector<bool>{true, false});
}

TEST_CASE("a user's function that throws fails the job and names the row", "[actors][udf]") {
  Columns columns(4);
  columns.dense("x", {1, 2, 13, 4});
  const std::string expected =
      "[[transform]] number 1 (udf): throws_at_13: clicks.tsv, row at byte 200: 13 brings bad luck";
  CHECK(failure(columns, udf("throws_at_13", {"x"})) == expected);
}

TEST_CASE("an error names the number of a row where files hold no bytes of rows", "[actors][udf]") {
  Columns columns(4);
  columns.dense("x", {1, 2, 13, 4});
  const auto plan = TransformPlan::compile({udf("throws_at_13", {"x"})}, columns.schema());
  REQUIRE(plan);
  TransformContext context = columns.context();
  context.numbers_rows = true;
  const auto failed = plan->run(columns.set(), context);
  REQUIRE_FALSE(failed);
  CHECK(failed.error().message ==
        "[[transform]] number 1 (udf): throws_at_13: clicks.tsv, row 200 (from 0): 13 brings bad "
        "luck");
}

TEST_CASE("a throw through the C form is caught", "[actors][udf]") {
  Columns columns(2);
  columns.dense("x", {1, 2});
  CHECK(failure(columns, udf("throws_through_c", {"x"})) ==
        "[[transform]] number 1 (udf): throws_through_c: clicks.tsv, row at byte 0: not caught "
        "within");
}

TEST_CASE("a failure that no single row reproduces names the first row", "[actors][udf]") {
  Columns columns(2);
  columns.dense("x", {1, 2});
  CHECK(failure(columns, udf("needs_two_rows", {"x"})) ==
        "[[transform]] number 1 (udf): needs_two_rows: one of 2 rows, the first being clicks.tsv, "
        "row at "
        "byte 0: it threw something that is no std::exception");
}

TEST_CASE("a user's function may name the row that failed", "[actors][udf]") {
  Columns columns(3);
  columns.dense("x", {1, 2, 3});
  CHECK(failure(columns, udf("names_its_row", {"x"})) ==
        "[[transform]] number 1 (udf): names_its_row: clicks.tsv, row at byte 100: no good");
}

TEST_CASE("wrong lengths fail the job and name the row", "[actors][udf]") {
  Columns dense(4);
  dense.dense("x", {1, 2, 3, 4});
  CHECK(failure(dense, udf("too_few_values", {"x"})) ==
        "[[transform]] number 1 (udf): too_few_values: clicks.tsv, row at byte 0: 0 values for 1 "
        "rows");
  Columns sparse(3);
  sparse.sparse("c", {{1}, {7}, {3}});
  CHECK(failure(sparse, udf("forgets_7", {"c"})) ==
        "[[transform]] number 1 (udf): forgets_7: clicks.tsv, row at byte 100: wrong lengths: the "
        "list runs "
        "from 1 to -1 of 3 ids");
}

TEST_CASE("a missing column or row fails the job and names the function", "[actors][udf]") {
  const std::vector<std::pair<std::string, std::string>> all{
      {"ids 2 0", "there is no sparse column 2: the call has 2, counted from 0"},
      {"ids 18446744073709551615 0",
       "there is no sparse column 18446744073709551615: the call has "
       "2, counted from 0"},
      {"ids 1 3", "there is no row 3: the call has 1, counted from 0"},
      {"ids 0 18446744073709551615",
       "there is no row 18446744073709551615: the call has 1, counted from 0"},
      {"dense 1", "there is no dense column 1: the call has 1, counted from 0"},
      {"dense_name 1", "there is no dense column 1: the call has 1, counted from 0"},
      {"sparse_name 2", "there is no sparse column 2: the call has 2, counted from 0"},
      {"replace 2", "there is no sparse column 2"}};
  for (const auto& [params, words] : all) {
    INFO(params);
    Columns columns(3);
    columns.dense("x", {1, 2, 3}).sparse("c", {{1}, {}, {2}}).ids("d", {1, 2, 3});
    const std::string expected =
        "[[transform]] number 1 (udf): asks_for: clicks.tsv, row at byte 0: " + words;
    CHECK(failure(columns, udf("asks_for", {"x", "c", "d"}, {{"params", params}})) == expected);
  }
  for (const std::string params : {"ids 1 0", "dense 0", "dense_name 0", "sparse_name 1"}) {
    INFO(params);
    Columns columns(3);
    columns.dense("x", {1, 2, 3}).sparse("c", {{1}, {}, {2}}).ids("d", {1, 2, 3});
    CHECK(columns.apply({udf("asks_for", {"x", "c", "d"}, {{"params", params}})}));
  }
}

/// The published calls of threads in user code.
class Notes final : public UserCodeObserver {
 public:
  Notes() { begin_observing(); }
  ~Notes() override { end_observing(); }
  bool entered(const UserCode& code) override {
    all.push_back(std::string("in ") + code.name());
    return true;
  }
  void left(const UserCode& code) override { all.push_back(std::string("out ") + code.name()); }

  Names all;
};

TEST_CASE("loading, calls and unloading of a library are published", "[actors][udf]") {
  const std::string op = "[[transform]] number 1 (udf): ";
  const std::string constructors = op + "the constructors of " + kLibrary;
  const std::string call = op + "throws_through_c of " + kLibrary;
  const std::string destructors = op + "the destructors of " + kLibrary;
  Notes notes;
  {
    Columns columns(1);
    columns.dense("x", {1});
    failure(columns, udf("throws_through_c", {"x"}));
  }
  CHECK(notes.all == Names{"in " + constructors, "out " + constructors, "in " + call, "out " + call,
                           "in " + call, "out " + call, "in " + destructors, "out " + destructors});
  CHECK(InUserCode::here() == nullptr);
  for (auto* code = UserCode::first(); code != nullptr; code = code->next())
    CHECK_FALSE(code->loaded());
}

std::string refusal(const std::string& library, const std::string& function) {
  const auto plan = TransformPlan::compile(
      {{"udf", {"x"}, {{"library", library}, {"function", function}}}}, Schema{{"x"}, {}});
  REQUIRE_FALSE(plan);
  CHECK(plan.error().code == Code::kInvalid);
  return plan.error().message;
}

TEST_CASE("a library or function that does not fit is refused at once", "[actors][udf]") {
  CHECK(refusal("/nowhere/libmine.so", "f")
            .find("[[transform]] number 1 (udf): library: /nowhere/") == 0);
  CHECK(refusal(kLibrary, "nothing") ==
        "[[transform]] number 1 (udf): function: " + kLibrary + " has no function \"nothing\"");
  CHECK(refusal(kLibrary, "undeclared") ==
        "[[transform]] number 1 (udf): function: \"undeclared\" of " + kLibrary +
            " is not declared with FOREBAY_UDF of forebay/udf.h");
  CHECK(refusal(kLibrary, "of_tomorrow") ==
        "[[transform]] number 1 (udf): library: " + kLibrary +
            " was built for version 2 of forebay/udf.h, this is 1; build it again");
}

TEST_CASE("a user's function holds no more than the plan's peak", "[actors][udf]") {
  const std::size_t rows = 5000;
  Columns columns(rows);
  columns.sparse("c", Lists(rows, {1, 2, 3})).dense("x", Floats(rows, 1));
  const auto plan = TransformPlan::compile(
      {udf("repeat", {"c", "x"}, {{"max_ids", std::int64_t{3}}})}, columns.schema());
  REQUIRE(plan);
  CHECK(plan->needs_origins());
  const std::size_t before = columns.budget().used();
  const std::size_t decoded = columns.set().bytes();
  REQUIRE(plan->run(columns.set(), columns.context()));
  CHECK(columns.budget().peak() - before <= plan->peak_bytes(rows, decoded) - decoded);
}

}  // namespace
}  // namespace forebay
