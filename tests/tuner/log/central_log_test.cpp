#include "tuner/log/central_log.h"

#include <string>

#include "core/base/whole_file.h"
#include "tests/support/temp_dir.h"
#include "tuner/cluster/cluster_planner.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

NodeReport node_named(const std::string& name) {
  NodeReport node{.name = name, .trainer = name == "own"};
  node.description.stages = {{.name = "load", .max_actors = 8}};
  node.limits = {.cpus = 4, .memory_bytes = 1 << 30};
  node.seen = {.seconds = 2, .limits = node.limits, .stages = {{.actors = 1}}, .trainer_steps = 9};
  node.ways = {{}, {.ratio = 2, .seconds = 0.5}};
  return node;
}

/// A log of five decisions, written and read.
CentralLog written_log(const std::string& path) {
  auto writer = CentralLogWriter::create(path, "train").value();
  ClusterPlanner planner;
  for (int i = 1; i <= 5; ++i) {
    const ClusterReport report{.at_seconds = 2.0 * i,
                               .trainer = {.seconds = 2,
                                           .waited_seconds = 0.25 * i,
                                           .able = 12.5,
                                           .threads = 1,
                                           .most_threads = 4},
                               .nodes = {node_named("a"), node_named("own")}};
    REQUIRE(writer.add({.report = report, .advice = planner.decide(report)}));
  }
  return parse_central_log(read_whole(path, 1 << 20).value(), path).value();
}

TEST_CASE("a central decision that is read is the one that was written", "[tuner][central_log]") {
  const test::TempDir dir;
  const std::string path = dir.path() + "/central.jsonl";
  const CentralLog log = written_log(path);
  CHECK(log.command == "train");
  REQUIRE(log.decisions.size() == 5);
  const CentralDecision& last = log.decisions.back();
  CHECK(last.advice.number == 5);
  CHECK(last.report.trainer.waited_seconds == 1.25);
  CHECK(last.report.trainer.able == 12.5);
  CHECK(last.report.trainer.threads == 1);
  CHECK(last.report.trainer.most_threads == 4);
  CHECK(last.advice.threads == 1);
  CHECK(last.report.nodes[1].trainer);
  CHECK(last.report.nodes[0].ways[1].ratio == 2);
  CHECK(read_whole(path, 1 << 20).value().ends_with(CentralLogWriter::to_line(last) + "\n"));
}

TEST_CASE("a replay of a central log decides the same, and finds what was changed",
          "[tuner][central_log]") {
  const test::TempDir dir;
  CentralLog log = written_log(dir.path() + "/central.jsonl");
  CHECK(replay(log).empty());
  log.decisions[2].advice.nodes[0].allocation.actors[0] += 7;
  const auto differences = replay(log);
  REQUIRE(differences.size() == 1);
  CHECK(differences.front().number == 3);
  CHECK(differences.front().logged.starts_with("a: "));
}

TEST_CASE("a replay finds other model threads, and a decision in words has them",
          "[tuner][central_log]") {
  const test::TempDir dir;
  CentralLog log = written_log(dir.path() + "/central.jsonl");
  const auto lines = describe(log.decisions[2]);
  REQUIRE(lines.size() == 4);
  CHECK(lines[0].find("model threads 1 (as it began)") != std::string::npos);
  CHECK(lines[1] == "     model: threads 1 of at most 4");
  log.decisions[2].advice.threads = 3;
  const auto differences = replay(log);
  REQUIRE(differences.size() == 1);
  CHECK(differences.front().number == 3);
  CHECK(differences.front().logged == "model: threads 3");
  CHECK(differences.front().now == "threads 1");
  log.decisions[2].advice.threads = 0;
  CHECK(replay(log).front().logged == "model: keeps its own threads");
  CHECK(describe(log.decisions[2]).size() == 3);
}

TEST_CASE("a line that is no central decision is refused with its number", "[tuner][central_log]") {
  const std::string header = R"({"forebay_central":3,"command":"train"})";
  CHECK(is_central_log(header));
  CHECK_FALSE(is_central_log(R"({"forebay_decisions":1})"));
  CHECK(parse_central_log(header + "\n", "log")->decisions.empty());
  const auto broken = parse_central_log(header + "\n{}\n", "log");
  REQUIRE_FALSE(broken);
  CHECK(broken.error().code == Code::kCorrupt);
  CHECK(broken.error().message.starts_with("log, line 2: "));
  CHECK_FALSE(parse_central_log(R"({"forebay_central":9,"command":""})"
                                "\n",
                                "log"));
  CHECK_FALSE(parse_central_log("", "log"));
}

TEST_CASE("a central decision for a node that cannot be planned is refused",
          "[tuner][central_log]") {
  const test::TempDir dir;
  CentralLog log = written_log(dir.path() + "/central.jsonl");
  CentralDecision& decision = log.decisions.front();
  NodeReport& node = decision.report.nodes[0];
  switch (GENERATE(range(0, 3))) {
    case 0:
      node.limits.memory_bytes = 0;
      break;
    case 1:
      node.limits.cpus = 0;
      break;
    default:
      node.description.stages[0].max_actors = 0;
  }
  const std::string text = R"({"forebay_central":3,"command":"train"})"
                           "\n" +
                           CentralLogWriter::to_line(decision) + "\n";
  const auto read = parse_central_log(text, "log");
  REQUIRE_FALSE(read);
  CHECK(read.error().message == "log, line 2: nodes: a: no stages, actors, CPUs or memory");
}

}  // namespace
}  // namespace forebay::tuner
