#include "engine/history/node_changes.h"

#include <string>

#include "tests/support/catch.h"

namespace forebay {
namespace {

using State = scheduler::NodeStatus::State;

scheduler::NodeStatus node(const std::string& name, State state, std::uint64_t incarnation = 1) {
  scheduler::NodeStatus node;
  node.name = name;
  node.host = "h";
  node.cpus = 4;
  node.state = state;
  node.incarnation = incarnation;
  return node;
}

std::string changes(const std::vector<scheduler::NodeStatus>& before,
                    const std::vector<scheduler::NodeStatus>& now) {
  scheduler::ClusterStatus earlier;
  earlier.nodes = before;
  scheduler::ClusterStatus later;
  later.nodes = now;
  std::string text;
  for (const JsonObject& change : node_changes(earlier, later)) text += change.text() + "\n";
  return text;
}

std::string line(const std::string& name, const std::string& change, const std::string& more = "") {
  return R"({"node":")" + name + R"(","change":")" + change + R"(","host":"h","cpus":4.0)" + more +
         "}\n";
}

}  // namespace

TEST_CASE("a node that is new has joined, and one that is missing has left", "[engine][events]") {
  CHECK(changes({}, {node("a", State::kJoined)}) == line("a", "joined"));
  CHECK(changes({node("a", State::kPrepared)}, {}) == line("a", "left"));
  CHECK(changes({}, {node("a", State::kPrepared)}) == line("a", "joined") + line("a", "prepared"));
  CHECK(changes({node("a", State::kPrepared)}, {node("a", State::kPrepared)}).empty());
}

TEST_CASE("a node that joined again under its name has left and joined", "[engine][events]") {
  CHECK(changes({node("a", State::kJoined)}, {node("a", State::kJoined, 2)}) ==
        line("a", "left") + line("a", "joined"));
}

TEST_CASE("a refused node says why", "[engine][events]") {
  auto refused = node("a", State::kRefused);
  refused.trouble = "no file";
  CHECK(changes({node("a", State::kJoined)}, {refused}) ==
        line("a", "refused", R"(,"trouble":"no file")"));
}

}  // namespace forebay
