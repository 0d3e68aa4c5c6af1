#include <algorithm>

#include <nlohmann/json.hpp>

#include "engine/trace/run_trace.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;

const std::vector<std::string> kStages{"load", "decode", "shuffle", "transform"};

/// A split that takes a millisecond in each stage, one after the other, from `begin` on.
PastSplit split(std::uint64_t number, std::chrono::nanoseconds begin) {
  PastSplit made{.number = number, .node = "", .rows = 100 + number, .times = {}, .batch = {}};
  made.times.stages.resize(kStages.size());
  for (auto& stage : made.times.stages) {
    stage = {begin, begin + 1ms};
    begin += 1ms;
  }
  made.batch = {begin, begin + 500us};
  return made;
}

/// The same split, made on a node whose clock is `behind`, and `on_its_way` for some time.
PastSplit split_of(const std::string& node, std::uint64_t number, std::chrono::nanoseconds begin,
                   std::chrono::nanoseconds behind, std::chrono::nanoseconds on_its_way) {
  PastSplit made = split(number, begin);
  made.node = node;
  made.times.sent = begin + 4ms - behind;
  made.times.arrived = begin + 4ms + on_its_way;
  for (auto& stage : made.times.stages) stage = {stage.begin - behind, stage.end - behind};
  made.batch = {made.times.arrived, made.times.arrived + 500us};
  return made;
}

std::vector<Json> events(const std::vector<PastSplit>& splits, const std::string& phase) {
  std::vector<Json> found;
  const Json trace = Json::parse(chrome_trace({.now = {}, .stages = kStages, .splits = splits}));
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == phase) found.push_back(event);
  }
  return found;
}

TEST_CASE("a split is five slices in microseconds, one a stage", "[tools][trace]") {
  const auto slices = events({split(7, 2s)}, "X");
  REQUIRE(slices.size() == 5);
  const std::vector<std::string> names = {"load", "decode", "shuffle", "transform", "batch"};
  for (std::size_t i = 0; i < slices.size(); ++i) {
    CHECK(slices[i]["name"] == names[i]);
    CHECK(slices[i]["ts"] == 1000.0 * static_cast<double>(i));
    CHECK(slices[i]["dur"] == (i < 4 ? 1000.0 : 500.0));
    CHECK(slices[i]["pid"] == 0);
    CHECK(slices[i]["tid"] == 1000 * (i + 1));
    CHECK(slices[i]["args"] == Json{{"split", 7}, {"rows", 107}});
  }
}

TEST_CASE("another node's clock is aligned by its fastest split", "[tools][trace]") {
  const std::vector<PastSplit> splits = {split(0, 10s), split_of("w", 1, 10s, 3s, 5ms),
                                         split_of("w", 2, 11s, 3s, 1ms)};
  CHECK(clock_offsets(splits).at("w") == 3s + 1ms);
  std::vector<double> begins;
  for (const Json& slice : events(splits, "X")) {
    if (slice["args"]["split"] != 1) continue;
    CHECK(slice["pid"] == (slice["name"] == "batch" ? 0 : 1));
    begins.push_back(slice["ts"]);
  }
  // Late by the 1 ms of the fastest delivery; the reorder buffer runs on the trainer's own clock.
  CHECK(begins == std::vector<double>{1000, 2000, 3000, 4000, 9000});
}

TEST_CASE("an arrow follows a split from its first slice into its batch", "[tools][trace]") {
  const std::vector<PastSplit> splits = {split(0, 10s), split_of("w", 1, 10s, 3s, 5ms)};
  const auto begins = events(splits, "s");
  const auto ends = events(splits, "f");
  REQUIRE(begins.size() == 2);
  REQUIRE(ends.size() == 2);
  CHECK(events(splits, "t").size() == 6);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(begins[i]["cat"] == ends[i]["cat"]);
    CHECK(ends[i]["pid"] == 0);
    CHECK(ends[i]["bp"] == "e");
    CHECK(begins[i]["pid"] == begins[i]["id"]);
  }
}

TEST_CASE("slices of one thread never overlap, actors beside each other get lanes",
          "[tools][trace]") {
  std::vector<PastSplit> splits = {split(0, 1s), split(1, 1s + 500us), split(2, 1s + 1ms)};
  std::vector<int> lanes;
  for (const Json& slice : events(splits, "X")) {
    if (slice["name"] == "load") lanes.push_back(slice["tid"].get<int>() - 1000);
  }
  CHECK(lanes == std::vector<int>{0, 1, 0});
  std::vector<std::string> threads;
  for (const Json& name : events(splits, "M")) {
    if (name["name"] == "thread_name") threads.push_back(name["args"]["name"]);
  }
  CHECK(std::count(threads.begin(), threads.end(), "load 2") == 1);
}

TEST_CASE("an empty trace is valid", "[tools][trace]") {
  CHECK(events({}, "X").empty());
  CHECK(events({}, "M").size() == 1);
}

TEST_CASE("a history of splits is the same after writing and parsing it", "[tools][trace]") {
  const std::vector<PastSplit> splits = {split(3, 10s), split_of("w", 1, 10s, 3s, 5ms)};
  const auto back = parse_history(history_text({.now = 12s, .stages = kStages, .splits = splits}));
  REQUIRE(back);
  CHECK(back->now == 12s);
  REQUIRE(back->splits.size() == 2);
  CHECK(back->splits[1].node == "w");
  CHECK(chrome_trace(*back) == chrome_trace({.now = 12s, .stages = kStages, .splits = splits}));
}

TEST_CASE("text that is not a history is refused", "[tools][trace]") {
  const std::string row = "[1,\"w\",5,1,2,3,4,5,6,7,8,9,10,11,12]";
  const std::string stages = R"("stages":["load","decode","shuffle","transform"],)";
  const auto history = [](const std::string& names, const std::string& splits) {
    return "{\"now\":1," + names + "\"splits\":" + splits + "}";
  };
  REQUIRE(parse_history(history(stages, "[" + row + "]")));
  std::string many = R"("stages":["a")";
  for (int i = 0; i < 64; ++i) many += R"(,"a")";
  for (const std::string& bad :
       {std::string(), std::string("{}"), std::string("[]"), std::string("{\"now\":1}"),
        "{\"now\":-1," + stages + "\"splits\":[]}", history(stages, "{}"), history("", "[]"),
        history(R"("stages":[1],)", "[]"), history(many + "],", "[]"),
        history(R"("stages":["load"],)", "[" + row + "]"), history(stages, "[[1,\"w\",5]]"),
        history(stages, "[[1,\"w\",5,1,2,3,4,5,6,7,8,9,10,11,-12]]"),
        history(stages, "[[1,\"w\",5,1,2,3,4,5,6,7,8,9,10,11,9223372036854775807]]"),
        history(stages, "[[1,2,5,1,2,3,4,5,6,7,8,9,10,11,12]]")}) {
    const auto refused = parse_history(bad);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == Code::kCorrupt);
  }
}

}  // namespace
}  // namespace forebay
