#include "engine/history/run_recorder.h"

#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

#include "tests/support/manual_clock.h"
#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

constexpr double kBegan = 1795600000;

/// A run of one stage, whose figures the test sets, and its recorder.
struct Recorded {
  test::TempDir dir;
  test::ManualClock clock;
  RunFigures figures;
  RunRecorder recorder{{.path = dir.path(kRecordName),
                        .command = "train",
                        .job = "job.toml",
                        .began = kBegan,
                        .clock = clock}};

  Recorded() {
    figures.command = "train";
    StageStats stage;
    stage.name = "load";
    stage.pool.actors = 2;
    figures.pipeline.stages.push_back(stage);
  }
  void observe() {
    recorder.observe([this] { return figures; });
  }
  /// A second in which so many rows came.
  void second(std::uint64_t rows) {
    clock.advance(1s);
    figures.elapsed = clock.now();
    figures.rows += rows;
    recorder.look();
  }
  json history() const { return json::parse(recorder.history(3600)); }
  json record() const { return json::parse(dir.read(kRecordName)); }
};

}  // namespace

TEST_CASE("a sample is taken each second of what happened in it", "[engine][history]") {
  Recorded run;
  run.observe();
  run.figures.waited = 250ms;
  run.second(100);
  run.recorder.look();  // no second has passed
  run.second(300);
  const json list = run.history();
  REQUIRE(list.size() == 2);
  CHECK(list[0]["time"] == kBegan + 1);
  CHECK(list[0]["rows_per_second"] == 100);
  CHECK(list[0]["starved_ratio"] == 0.25);
  CHECK(list[1]["rows_per_second"] == 300);
  CHECK(list[1]["stages"][0]["actors"] == 2);
  CHECK(json::parse(run.recorder.history(1)).size() == 1);
}

TEST_CASE("late looks lose no time between samples", "[engine][history]") {
  Recorded run;
  run.observe();
  for (int look = 0; look < 5; ++look) {
    run.clock.advance(700ms);
    run.figures.elapsed = run.clock.now();
    run.figures.rows += 70;
    run.recorder.look();
  }
  // Samples are due at 1, 2 and 3 s, and taken at 1.4, 2.1 and 3.5 s.
  const json list = run.history();
  REQUIRE(list.size() == 3);
  CHECK(list[2]["time"] == kBegan + 3.5);
  for (const json& sample : list) CHECK(sample["rows_per_second"] == 100);
}

TEST_CASE("the status is starting, then the run's, then the last one", "[engine][history]") {
  Recorded run;
  CHECK(json::parse(run.recorder.status())["state"] == "starting");
  run.observe();
  run.second(5);
  const json status = json::parse(run.recorder.status());
  CHECK(status["state"] == "running");
  CHECK(status["rows"] == 5);
  run.second(2);
  run.recorder.rest();
  run.figures.rows = 1000;
  CHECK(json::parse(run.recorder.status())["rows"] == 7);
  run.second(1);
  CHECK(run.history().size() == 2);
}

TEST_CASE("a loss is the mean over the steps of a second", "[engine][history]") {
  Recorded run;
  run.observe();
  run.recorder.learned(1, 0.5);
  run.recorder.learned(2, 0.25);
  run.second(1);
  CHECK(run.history()[0]["loss"] == 0.375);
  run.second(1);  // without a step
  CHECK(run.history()[1]["loss"] == 0.375);
  CHECK(run.recorder.learning().step == 2);
}

TEST_CASE("a sample has the AUC of the last evaluation, none before the first",
          "[engine][history]") {
  Recorded run;
  run.observe();
  run.second(1);
  run.recorder.evaluated({.step = 10, .auc = 0.625});
  run.second(1);
  run.recorder.evaluated({.step = 20, .auc = 0.75});
  run.second(1);
  CHECK_FALSE(run.history()[0].contains("auc"));
  CHECK(run.history()[1]["auc"] == 0.625);
  CHECK(run.history()[2]["auc"] == 0.75);
}

TEST_CASE("where the rows of tables lie is part of what a model has learned", "[engine][history]") {
  Recorded run;
  run.observe();
  run.recorder.learned(1, 0.5);
  run.recorder.placed({{.name = "C1",
                        .rows = 100,
                        .row_bytes = 80,
                        .in_memory = 10,
                        .on_disk = 30,
                        .lookups = 9,
                        .found = 6}});
  run.second(1);
  run.recorder.end("done", "");
  const json table = run.record()["learning"]["tables"][0];
  CHECK(table == json({{"name", "C1"},
                       {"rows", 100},
                       {"row_bytes", 80},
                       {"rows_in_memory", 10},
                       {"rows_on_disk", 30},
                       {"lookups", 9},
                       {"lookups_found", 6}}));
}

TEST_CASE("the record has all of a run at its end, once", "[engine][history]") {
  Recorded run;
  run.observe();
  run.second(100);
  run.recorder.decided(JsonObject().add("number", 1).add("what", "no change"));
  run.recorder.evaluated({.step = 4, .auc = 0.75});
  run.recorder.rest();
  run.recorder.end("failed", "no file\n");
  run.recorder.end("done", "");
  const json record = run.record();
  CHECK(record["how"] == "failed");
  CHECK(record["error"] == "no file\\n");
  CHECK(record["ended"] == kBegan + 1);
  CHECK(record["history"].size() == 1);
  CHECK(record["status"]["rows"] == 100);
  CHECK(record["learning"]["evaluations"][0]["auc"] == 0.75);
  REQUIRE(record["events"].size() == 2);
  CHECK(record["events"][0]["event"] == "decision");
  CHECK(record["events"][0]["data"]["what"] == "no change");
  CHECK(record["events"][1]["event"] == "end");
  CHECK(run.recorder.events().closed());
  CHECK(read_record(run.dir.path()));
}

TEST_CASE("a run that never began leaves the record of the run before it", "[engine][history]") {
  Recorded run;
  run.dir.write(kRecordName, "before");
  run.recorder.warn("cluster: nobody came");
  run.recorder.end("refused", "no data");
  CHECK(run.dir.read(kRecordName) == "before");
}

TEST_CASE("a run replaces the record of the run before it as it starts", "[engine][history]") {
  Recorded run;
  run.dir.write(kRecordName, "before");
  run.observe();
  const json record = run.record();
  CHECK(record["began"] == kBegan);
  CHECK(record["how"] == "");  // as a kill would leave it
  CHECK(read_record(run.dir.path()));
}

TEST_CASE("a warning is in the record at once, other events within half a minute",
          "[engine][history]") {
  Recorded run;
  run.observe();
  run.recorder.warn("no progress");
  CHECK(run.record()["events"].size() == 1);
  run.recorder.decided(JsonObject().add("number", 1));
  run.second(1);
  CHECK(run.record()["events"].size() == 1);
  run.clock.advance(29s);
  run.recorder.look();
  CHECK(run.record()["events"].size() == 2);
}

TEST_CASE("nodes that come and go are events", "[engine][history]") {
  Recorded run;
  run.figures.cluster.emplace();
  run.observe();
  scheduler::NodeStatus node;
  node.name = "far";
  run.figures.cluster->nodes.push_back(node);
  run.second(1);
  const auto events = run.recorder.events().all();
  REQUIRE(events.size() == 1);
  CHECK(events[0].kind == "node");
  CHECK(json::parse(events[0].data)["node"] == "far");
}

TEST_CASE("what is no record is refused by its name", "[engine][history]") {
  const test::TempDir dir;
  CHECK(read_record(dir.path()).error().code == Code::kNotFound);
  std::vector<std::string> texts = {"", "{}", "[]"};
  for (const char* version : {"2", "null", R"("1")", "[1]", "{}"}) {
    texts.push_back(std::string(R"({"version":)") + version +
                    R"(,"status":{},"history":[],"events":[]})");
  }
  for (const std::string& text : texts) {
    CAPTURE(text);
    dir.write(kRecordName, text);
    const auto refused = read_record(dir.path());
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.find("is no record of a run") != std::string::npos);
  }
}

}  // namespace forebay
