#include "actors/python/function_process.h"

#include <string>
#include <vector>

#include "tests/actors/python/fake_function.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using test::Behaviour;
using test::doubling;
using Kind = PythonOutcome::Kind;
using Floats = std::vector<float>;

FunctionProcess started() {
  auto process = FunctionProcess::start(doubling(), {});
  REQUIRE(process);
  return std::move(*process);
}

PythonOutcome called(FunctionProcess& process, const Floats& x,
                     const std::function<bool()>& cancelled = {}) {
  auto outcome = process.call({.rows = x.size(), .dense = {x.data()}}, cancelled);
  REQUIRE(outcome);
  return std::move(*outcome);
}

std::string refusal() {
  const auto process = FunctionProcess::start(doubling(), {});
  REQUIRE_FALSE(process);
  CHECK(process.error().code == Code::kInvalid);
  return process.error().message;
}

TEST_CASE("a process is called many times, with any number of rows", "[actors][python]") {
  FunctionProcess process = started();
  for (const std::size_t rows : {3U, 100000U, 1U, 5000U}) {
    const PythonOutcome outcome = called(process, Floats(rows, 21.0F));
    REQUIRE(outcome.kind == Kind::kDone);
    CHECK(Floats(outcome.result.dense[0], outcome.result.dense[0] + rows) == Floats(rows, 42.0F));
  }
}

TEST_CASE("what a function raises does not end its process", "[actors][python]") {
  FunctionProcess process = started();
  const PythonOutcome raised = called(process, {1, -1});
  CHECK(raised.kind == Kind::kRaised);
  CHECK(raised.text == "ValueError: negative");
  CHECK(called(process, {1}).kind == Kind::kDone);
}

TEST_CASE("what a process cannot start with is said", "[actors][python]") {
  {
    const Behaviour unusable("unusable");
    CHECK(refusal() == "no such\\nmodule");
  }
  const Behaviour complains("complains");
  CHECK_THAT(refusal(), Catch::Contains("-m forebay._child ended with status 1: No module named "
                                        "forebay; install the packages forebay and numpy"));
}

TEST_CASE("an interpreter that is not there is named with what to do", "[actors][python]") {
  PythonFunction function = doubling();
  function.interpreter = "no-such-python";
  const auto process = FunctionProcess::start(function, {});
  REQUIRE_FALSE(process);
  CHECK_THAT(process.error().message, Catch::Contains("no-such-python: cannot be started") &&
                                          Catch::Contains("FOREBAY_PYTHON"));
}

TEST_CASE("a process that dies in a call says how", "[actors][python]") {
  const std::vector<std::pair<std::string, std::string>> ways = {
      {"dies", "was killed by signal 9 (Killed)"},
      {"leaves", "ended with status 3"},
      {"half a header", "ended with status 0"}};
  for (const auto& [how, words] : ways) {
    const Behaviour behaviour(how);
    FunctionProcess process = started();
    const PythonOutcome outcome = called(process, {1});
    CHECK(outcome.kind == Kind::kDied);
    CHECK_THAT(outcome.text, Catch::Contains(words));
    CHECK(called(process, {1}).kind == Kind::kDied);
  }
}

TEST_CASE("answers that are none are refused and their process ends", "[actors][python]") {
  for (const auto* how : {"other number", "other kind", "long payload", "huge payload"}) {
    const Behaviour behaviour(how);
    FunctionProcess process = started();
    const PythonOutcome outcome = called(process, {1});
    CHECK(outcome.kind == Kind::kRefused);
    CHECK_THAT(outcome.text, Catch::Contains("its process sent "));
    CHECK(called(process, {1}).kind == Kind::kDied);
  }
}

TEST_CASE("a process cannot shrink the memory", "[actors][python]") {
  const Behaviour behaviour("shrinks");
  FunctionProcess process = started();
  CHECK(called(process, {1}).text == "it cannot be shrunk");
}

TEST_CASE("a stopped run does not wait for a function that hangs", "[actors][python]") {
  const Behaviour behaviour("hangs");
  FunctionProcess process = started();
  CHECK(called(process, {1}, [] { return true; }).kind == Kind::kCancelled);
}

}  // namespace
}  // namespace forebay
