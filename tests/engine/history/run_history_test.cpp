#include "engine/history/run_history.h"

#include <nlohmann/json.hpp>

#include "tests/support/catch.h"

namespace forebay {
namespace {

using Catch::Detail::Approx;

HistorySample sample(double time, double rate) {
  return {.time = time, .seconds = 1, .rows_per_second = rate, .stages = {{.actors = 1}}};
}

}  // namespace

TEST_CASE("two samples become one whose means are weighted by time", "[engine][history]") {
  HistorySample earlier = sample(10, 100);
  earlier.memory_bytes = 7;
  earlier.loss = 0.5;
  earlier.auc = 0.75;
  HistorySample later = sample(13, 200);
  later.seconds = 3;
  later.starved_ratio = 0.4;
  later.memory_bytes = 5;
  later.stages[0] = {.actors = 2, .busy = 0.8F};
  const HistorySample both = merged(earlier, later);
  CHECK(both.time == 13);
  CHECK(both.seconds == 4);
  CHECK(both.rows_per_second == Approx(175));  // (100 * 1 + 200 * 3) / 4
  CHECK(both.starved_ratio == Approx(0.3));    // 0.4 * 3 / 4
  CHECK(both.memory_bytes == 7);
  CHECK(both.loss == 0.5);
  CHECK(both.auc == 0.75);
  CHECK(both.stages[0].actors == 2);
  CHECK(both.stages[0].busy == Approx(0.6));
}

TEST_CASE("the last hour is kept as it came, the whole run in fewer samples", "[engine][history]") {
  RunHistory history;
  constexpr int kSeconds = 4001;
  for (int second = 1; second <= kSeconds; ++second) history.add(sample(second, second));
  CHECK(history.last().size() == RunHistory::kMostLast);
  CHECK(history.last().front().time == 402);  // 4001 - 3600 + 1
  const auto whole = history.whole();
  CHECK(whole.size() <= RunHistory::kMostWhole + 1);
  CHECK(whole.back().time == kSeconds);
  // 1800 samples of 1 s became 900 of 2 s, then 1800 of these 900 of 4 s.
  CHECK(whole.front().seconds == 4);
  CHECK(whole.front().rows_per_second == Approx(2.5));  // of 1, 2, 3, 4
  double seconds = 0;
  for (const HistorySample& each : whole) seconds += each.seconds;
  CHECK(seconds == Approx(kSeconds));
}

TEST_CASE("samples are listed in JSON from a time on", "[engine][history]") {
  RunHistory history;
  HistorySample second = sample(1795600000.25, 1234.5);
  second.loss = 0.25;
  second.stages[0] = {.actors = 3, .busy = 0.5F};
  history.add(sample(1795599999.25, 1));
  history.add(second);
  const auto list = nlohmann::json::parse(history_json(history.last(), {"decode"}, 1795599999.25));
  REQUIRE(list.size() == 1);
  CHECK(list[0]["time"] == 1795600000.25);
  CHECK(list[0]["rows_per_second"] == 1234.5);
  CHECK(list[0]["loss"] == 0.25);
  CHECK(list[0]["stages"] == nlohmann::json::parse(R"([{"name":"decode","actors":3,"busy":0.5}])"));
}

TEST_CASE("a number that is not finite is null", "[engine][history]") {
  std::string text;
  append_json(sample(1, 1.0 / 0.0), {}, text);
  CHECK(nlohmann::json::parse(text)["rows_per_second"].is_null());
}

}  // namespace forebay
