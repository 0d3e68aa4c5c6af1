#include "engine/history/event_log.h"

#include <string>

#include "tests/support/catch.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;

JsonObject data(const std::string& text) { return JsonObject().add("text", text); }

}  // namespace

TEST_CASE("a reader gets the events after the last one that it has", "[engine][events]") {
  EventLog log;
  log.add("warning", data("one"));
  log.add("decision", data("two"));
  const auto all = log.all();
  REQUIRE(all.size() == 2);
  CHECK(all[1].number == 2);
  CHECK(all[1].kind == "decision");
  CHECK(all[1].data == R"({"text":"two"})");
  const auto more = log.wait_after(1, 1h);
  REQUIRE(more.size() == 1);
  CHECK(more[0].number == 2);
  CHECK(log.wait_after(2, 0s).empty());
}

TEST_CASE("a log keeps its last events, and few bytes of them", "[engine][events]") {
  EventLog log;
  for (std::size_t i = 0; i < EventLog::kMost + 5; ++i) log.add("node", data(""));
  CHECK(log.all().size() == EventLog::kMost);
  CHECK(log.all().front().number == 6);
  const std::string large(EventLog::kMostBytes / 2, 'x');
  for (int i = 0; i < 3; ++i) log.add("warning", data(large));
  CHECK(log.all().size() == 1);  // two of them and their keys are above the bound
  CHECK(log.all().back().number == EventLog::kMost + 8);
}

TEST_CASE("a closed log ends all waits", "[engine][events]") {
  EventLog log;
  CHECK_FALSE(log.closed());
  log.close();
  CHECK(log.closed());
  CHECK(log.wait_after(0, 1h).empty());
}

}  // namespace forebay
