#include "engine/cluster/trainer_view.h"

#include <string>
#include <utility>
#include <vector>

#include "tests/support/catch.h"

namespace forebay {
namespace {

using scheduler::ClusterStatus;
using scheduler::SplitClientStatus;
using Sentences = std::vector<std::string>;

ClusterStatus head_of(const std::string& job, Sentences problems) {
  ClusterStatus head;
  head.job = job;
  head.nodes = {{.name = "w1", .host = "node-1", .trouble = ""}};
  head.problems = std::move(problems);
  return head;
}

SplitClientStatus split_client(bool open, Sentences problems) {
  SplitClientStatus status;
  status.open = open;
  status.problems = std::move(problems);
  return status;
}

TEST_CASE("a head that cannot be reached is a problem, and its view lists no nodes",
          "[tools][cluster]") {
  const auto seen =
      trainer_view("a", std::nullopt, split_client(false, {"the head has not been reached"}));
  CHECK(seen.problems == Sentences{"the head has not been reached"});
  CHECK(seen.nodes.empty());
}

TEST_CASE("problems and nodes of a head that serves another job are not shown",
          "[tools][cluster]") {
  const auto seen =
      trainer_view("b", head_of("a", {"a's own"}), split_client(false, {"the head serves job a"}));
  CHECK(seen.problems == Sentences{"the head serves job a"});
  CHECK(seen.nodes.empty());
}

TEST_CASE("problems that the head reports replace those of the split client", "[tools][cluster]") {
  const auto seen =
      trainer_view("a", head_of("a", {"w1 is late"}), split_client(true, {"split 3 is late"}));
  CHECK(seen.problems == Sentences{"w1 is late"});
  CHECK(seen.nodes.size() == 1);
}

TEST_CASE("where the head reports no problem, those of the split client are shown",
          "[tools][cluster]") {
  const auto seen = trainer_view("a", head_of("a", {}), split_client(true, {"split 3 is late"}));
  CHECK(seen.problems == Sentences{"split 3 is late"});
  CHECK(seen.nodes.size() == 1);
}

TEST_CASE("refusals are reported only while no worker is prepared", "[tools][cluster]") {
  using State = scheduler::NodeStatus::State;
  ClusterStatus cluster;
  CHECK(refusals(cluster).empty());
  cluster.nodes = {{.name = "w1", .host = "", .state = State::kJoined, .trouble = ""}};
  CHECK(refusals(cluster).empty());
  cluster.nodes.push_back(
      {.name = "w2", .host = "", .state = State::kRefused, .trouble = "a.tsv: line 3"});
  cluster.nodes.push_back({.name = "w3", .host = "", .state = State::kRefused, .trouble = "b.tsv"});
  CHECK(refusals(cluster) == "w2: a.tsv: line 3\nw3: b.tsv\n");
  cluster.nodes.push_back({.name = "w4", .host = "", .state = State::kPrepared, .trouble = ""});
  CHECK(refusals(cluster).empty());
}

}  // namespace
}  // namespace forebay
