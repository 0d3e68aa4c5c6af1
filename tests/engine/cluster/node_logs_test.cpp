#include "engine/cluster/node_logs.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

TEST_CASE("a node's log has its name, with the special characters as codes", "[engine][cluster]") {
  CHECK(node_log_path("d", "a.b_c-1") == "d/decisions-a.b_c-1.jsonl");
  CHECK(node_log_path("d", "host/1%") == "d/decisions-host%2F1%25.jsonl");
  CHECK(earlier_node_log_path("d", "w+1", 2) == "d/decisions-w%2B1+2.jsonl");
}

TEST_CASE("the name of a log names its node", "[engine][cluster]") {
  for (const std::string node : {"w1", "a.b", "a_b", "host/1", "100%", "\xc3\xa4", "%41"}) {
    const std::string path = node_log_path("d", node);
    CAPTURE(path);
    CHECK(node_of_log(path.substr(2)) == node);
  }
}

TEST_CASE("other files are no node's log", "[engine][cluster]") {
  for (const std::string name :
       {"decisions.jsonl", "decisions-.jsonl", "decisions-w1.json", "central.jsonl",
        "decisions-%4.jsonl", "decisions-%zz.jsonl", "decisions-w1+1.jsonl"}) {
    CAPTURE(name);
    CHECK_FALSE(node_of_log(name));
  }
}

}  // namespace
}  // namespace forebay
