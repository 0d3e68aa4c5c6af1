#include "engine/ranks/rank_environment.h"

#include <map>

#include "tests/support/catch.h"

using namespace forebay;

namespace {

using Variables = std::map<std::string, std::string>;

Result<std::optional<RankEnvironment>> read(const Variables& variables) {
  return RankEnvironment::read([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

const Variables kWhole = {{"RANK", "1"},
                          {"WORLD_SIZE", "4"},
                          {"LOCAL_RANK", "0"},
                          {"LOCAL_WORLD_SIZE", "4"},
                          {"MASTER_ADDR", "10.0.0.7"},
                          {"MASTER_PORT", "29500"}};

std::string refusal(const std::string& name, const std::string& value) {
  Variables changed = kWhole;
  changed[name] = value;
  auto found = read(changed);
  return found ? "" : found.error().message;
}

}  // namespace

TEST_CASE("a trainer that no launcher started is alone", "[tools][ranks]") {
  CHECK_FALSE(read({}).value().has_value());
  CHECK_FALSE(read({{"MASTER_ADDR", "h"}}).value().has_value());
  CHECK_FALSE(read({{"WORLD_SIZE", "1"}, {"RANK", "0"}}).value().has_value());
}

TEST_CASE("a launcher's variables give the rank", "[tools][ranks]") {
  const RankEnvironment found = *read(kWhole).value();
  CHECK(found.rank == 1);
  CHECK(found.size == 4);
  CHECK(found.local_rank == 0);
  CHECK(found.local_size == 4);
  CHECK(found.host == "10.0.0.7");
  CHECK(found.port == 29500);
  CHECK(found.one_machine);
  const CollectiveSpec meeting = found.meeting(std::chrono::seconds(9), "cpu");
  CHECK(meeting.rank == 1);
  CHECK_FALSE(meeting.opens_store);
  CHECK(meeting.timeout == std::chrono::seconds(9));
}

TEST_CASE("without LOCAL_RANK a machine has one rank, or all of them by loopback",
          "[tools][ranks]") {
  Variables few = kWhole;
  few.erase("LOCAL_WORLD_SIZE");
  CHECK(read(few).value()->local_size == 1);
  CHECK_FALSE(read(few).value()->one_machine);
  for (const char* host : {"127.0.0.1", "localhost", "::1"}) {
    few["MASTER_ADDR"] = host;
    CHECK(read(few).value()->local_size == 4);
  }
  few["LOCAL_WORLD_SIZE"] = "2";
  CHECK(read(few).value()->local_size == 2);
}

TEST_CASE("rank 0 serves the store unless the launcher does", "[tools][ranks]") {
  Variables first = kWhole;
  first["RANK"] = "0";
  CHECK(read(first).value()->meeting(std::chrono::seconds(9), "cpu").opens_store);
  first["TORCHELASTIC_USE_AGENT_STORE"] = "True";
  CHECK_FALSE(read(first).value()->meeting(std::chrono::seconds(9), "cpu").opens_store);
}

TEST_CASE("each start of a job by the same launcher is a group of its own", "[tools][ranks]") {
  Variables again = kWhole;
  again["TORCHELASTIC_RESTART_COUNT"] = "2";
  CHECK(read(kWhole).value()->group != read(again).value()->group);
}

TEST_CASE("values that make no sense are refused by name", "[tools][ranks]") {
  CHECK(refusal("RANK", "4") ==
        "RANK is \"4\" in the environment and must be a whole number within 0 to 3");
  CHECK(refusal("RANK", "-1").starts_with("RANK is \"-1\""));
  CHECK(refusal("RANK", " 0").starts_with("RANK is \" 0\""));
  CHECK(refusal("LOCAL_WORLD_SIZE", " 4").starts_with("LOCAL_WORLD_SIZE is \" 4\""));
  CHECK(refusal("LOCAL_WORLD_SIZE", "5").starts_with("LOCAL_WORLD_SIZE is \"5\""));
  CHECK(refusal("RANK", "1x").starts_with("RANK is \"1x\""));
  CHECK(refusal("WORLD_SIZE", "0").starts_with("WORLD_SIZE is \"0\""));
  CHECK(refusal("WORLD_SIZE", "four").starts_with("WORLD_SIZE is \"four\""));
  CHECK(refusal("LOCAL_RANK", "9").starts_with("LOCAL_RANK is \"9\""));
  CHECK(refusal("LOCAL_WORLD_SIZE", "0").starts_with("LOCAL_WORLD_SIZE is \"0\""));
  CHECK(refusal("LOCAL_WORLD_SIZE", "5").starts_with("LOCAL_WORLD_SIZE is \"5\""));
  CHECK(refusal("MASTER_PORT", "0").starts_with("MASTER_PORT is \"0\""));
  CHECK(refusal("MASTER_PORT", "65536").starts_with("MASTER_PORT is \"65536\""));
}

TEST_CASE("one trainer alone has rank 0 or none", "[tools][ranks]") {
  CHECK_FALSE(read({{"WORLD_SIZE", "1"}}).value().has_value());
  for (const char* rank : {" 0", "1", "x"}) {
    CAPTURE(rank);
    CHECK_FALSE(read({{"WORLD_SIZE", "1"}, {"RANK", rank}}));
  }
}

TEST_CASE("some variables without the others are refused by name", "[tools][ranks]") {
  for (const char* name : {"WORLD_SIZE", "RANK", "MASTER_ADDR", "MASTER_PORT"}) {
    const std::string message = refusal(name, "");
    CAPTURE(name, message);
    CHECK(message.find(std::string(name) + " is not: start") != std::string::npos);
  }
}
