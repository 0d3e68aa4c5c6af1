#include <unistd.h>

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <stdlib.h>

#include "actors/transform/transform.h"
#include "tests/actors/python/fake_function.h"
#include "tests/actors/transform/columns_fixture.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using test::Behaviour;
using test::Columns;
using Floats = std::vector<float>;
using Names = std::vector<std::string>;

TransformSpec python(std::map<std::string, ParamValue> params = {}) {
  params.emplace("function", std::string("fake:doubling"));
  params.emplace("interpreter", std::string(FOREBAY_FAKE_CHILD));
  params.emplace("adds", Names{"y"});
  return {"python", {"x"}, std::move(params)};
}

/// A file by which the first child of a test knows that it is the first.
class Once {
 public:
  Once() {
    REQUIRE(::mkdtemp(folder_.data()) != nullptr);
    file_ = folder_ + "/once";
    ::setenv("FAKE_CHILD_ONCE", file_.c_str(), 1);
  }
  ~Once() {
    ::unsetenv("FAKE_CHILD_ONCE");
    ::unlink(file_.c_str());
    ::rmdir(folder_.c_str());
  }
  Once(const Once&) = delete;
  Once& operator=(const Once&) = delete;

 private:
  std::string folder_ = "/tmp/forebay-once-XXXXXX";
  std::string file_;
};

Columns columns_of(const Floats& x) {
  Columns columns(x.size());
  columns.dense("x", x);
  return columns;
}

std::string failure(const Floats& x) {
  Columns columns = columns_of(x);
  const auto status = columns.apply({python()});
  REQUIRE_FALSE(status);
  CHECK(status.error().code == Code::kInvalid);
  return status.error().message;
}

std::string refusal(const TransformSpec& spec) {
  const auto plan = TransformPlan::compile({spec}, Schema{{"x"}, {}});
  REQUIRE_FALSE(plan);
  return plan.error().message;
}

std::uint64_t fingerprint(const TransformSpec& spec) {
  const auto plan = TransformPlan::compile({spec}, Schema{{"x", "z"}, {}});
  REQUIRE(plan);
  return plan->fingerprint();
}

TEST_CASE("a function in Python adds columns", "[actors][python]") {
  Columns columns = columns_of({1, 2.5F, 0});
  REQUIRE(columns.apply({python()}));
  CHECK(columns.schema().dense == Names{"x", "y"});
  CHECK(columns.dense_values(0) == Floats{1, 2.5F, 0});
  CHECK(columns.dense_values(1) == Floats{2, 5, 0});
}

TEST_CASE("any NaN that a function returns is a missing value", "[actors][python]") {
  Columns columns = columns_of({missing_value(), std::numeric_limits<float>::quiet_NaN(), 3});
  REQUIRE(columns.apply({python()}));
  CHECK(columns.dense_values(1) == Floats{0, 0, 6});
}

TEST_CASE("a split without rows gets its columns without a call", "[actors][python]") {
  const Behaviour behaviour("dies");
  Columns columns = columns_of({});
  REQUIRE(columns.apply({python()}));
  CHECK(columns.schema().dense.size() == 2);
  CHECK(columns.set().dense.size() == 2);
}

TEST_CASE("an exception names function, file and the rows that raise", "[actors][python]") {
  CHECK(failure({1, 2, -3, 4, 5}) ==
        "[[transform]] number 1 (python): fake:doubling: clicks.tsv, row at byte 200: raised "
        "ValueError: "
        "negative");
}

TEST_CASE("a wrong answer names the rows of the split", "[actors][python]") {
  const Behaviour behaviour("long payload");
  CHECK_THAT(failure({1, 2, 3}),
             Catch::StartsWith(
                 "[[transform]] number 1 (python): fake:doubling: clicks.tsv, rows at bytes 0 to "
                 "200: its process sent an answer of a wrong length"));
}

TEST_CASE("a process that dies is replaced once", "[actors][python]") {
  for (const auto* how : {"dies once", "dies at once"}) {
    Columns columns = columns_of({1, 2});
    const auto plan = TransformPlan::compile({python()}, columns.schema());
    REQUIRE(plan);
    const Once once;
    const Behaviour behaviour(how);
    REQUIRE(plan->run(columns.set(), columns.context()));
    CHECK(columns.dense_values(1) == Floats{2, 4});
  }
  const Behaviour behaviour("dies");
  CHECK_THAT(failure({1, 2}),
             Catch::Contains("fake:doubling: clicks.tsv, rows at bytes 0 to 100: ") &&
                 Catch::Contains("was killed by signal 9 (Killed), after ") &&
                 Catch::Contains("replaced once"));
}

TEST_CASE("a job with a wrong function is refused", "[actors][python]") {
  CHECK_THAT(refusal(python({{"function", std::string("ratio")}})),
             Catch::Contains("function: must be \"package.module:name\", not \"ratio\""));
  CHECK_THAT(refusal(python({{"function", std::string("__main__:ratio")}})),
             Catch::Contains("is of a main script"));
  CHECK_THAT(refusal(python({{"adds", Names{}}})), Catch::Contains("adds: is missing"));
  CHECK_THAT(refusal(python({{"adds", Names{"x"}}})), Catch::Contains("x"));
  CHECK_THAT(refusal(python({{"version", 1.5}})), Catch::Contains("version: must be a string"));
  const Behaviour behaviour("unusable");
  CHECK(refusal(python()) ==
        "[[transform]] number 1 (python): function: fake:doubling: no such\\nmodule");
}

TEST_CASE("a state knows name, columns, adds and version of a function", "[actors][python]") {
  const std::uint64_t usual = fingerprint(python());
  CHECK(fingerprint(python({{"path", Names{"/elsewhere"}}})) == usual);
  CHECK(fingerprint(python({{"pickled", std::string("gASV")}})) == usual);
  CHECK(fingerprint(python({{"max_ids", std::int64_t{5}}})) == usual);
  CHECK(fingerprint(python({{"version", std::string("2")}})) != usual);
  CHECK(fingerprint(python({{"version", std::int64_t{2}}})) != usual);
  CHECK(fingerprint(python({{"function", std::string("fake:other")}})) != usual);
  CHECK(fingerprint(python({{"adds", Names{"v"}}})) != usual);
  TransformSpec other = python();
  other.columns = {"z"};
  CHECK(fingerprint(other) != usual);
}

TEST_CASE("an actor's process counts beside its splits", "[actors][python]") {
  const auto plan = TransformPlan::compile({python()}, Schema{{"x"}, {}});
  REQUIRE(plan);
  CHECK(plan->actor_bytes(plan->stages().back()) > 32U << 20);
  CHECK(plan->actor_bytes(plan->stages().front()) == 0);
  CHECK(plan->child_bytes() == 0);

  Columns columns = columns_of({1, 2});
  StepStates actor;
  TransformContext context = columns.context();
  context.actor = &actor;
  REQUIRE(plan->run(columns.set(), context));
  CHECK(plan->child_bytes() > 0);
  // 1 MiB of rows: 4 bytes in, 4 bytes out, in shared memory and in the new column.
  const std::size_t rows = std::size_t{1} << 18;
  CHECK(plan->peak_bytes(rows, rows * 4) >= rows * 4 + rows * 4 + 2 * rows * 4);
}

TEST_CASE("the columns of a plan without processes cost nothing", "[actors][python]") {
  const auto plan = TransformPlan::compile({}, Schema{{"x"}, {}});
  REQUIRE(plan);
  CHECK(plan->actor_bytes(plan->stages().back()) == 0);
}

}  // namespace
}  // namespace forebay
