#include "engine/cluster/use_by_node.h"

#include <limits>

#include "tests/support/catch.h"

namespace forebay {
namespace {

using Sums = std::map<std::string, scheduler::JobUse>;

TEST_CASE("what a worker has used counts once, however often and late it is reported",
          "[tools][cluster]") {
  UseByNode use;
  CHECK(use.sums().empty());
  use.report("a", 7, {.requests = 3, .bytes = 100, .joules = 1, .counted = true});
  use.report("a", 7, {.requests = 5, .bytes = 400, .joules = 3, .counted = true});
  use.report("a", 7, {.requests = 4, .bytes = 200, .joules = 2, .counted = true});  // sent earlier
  use.report("b", 9, {});
  CHECK(use.sums() == Sums{{"a", {.requests = 5, .bytes = 400, .joules = 3, .counted = true}}});
}

TEST_CASE("what a worker that died has used stays, and its successor adds to it",
          "[tools][cluster]") {
  UseByNode use;
  use.report("a", 7, {.requests = 5, .bytes = 400, .joules = 2, .counted = true, .machine = 1});
  use.report("a", 8, {.requests = 1, .bytes = 10, .joules = 0.5, .counted = false, .machine = 1});
  use.report("b", 7, {.requests = 2, .bytes = 20});
  CHECK(use.sums() ==
        Sums{{"a", {.requests = 6, .bytes = 410, .joules = 2.5, .counted = false, .machine = 1}},
             {"b", {.requests = 2, .bytes = 20}}});
}

TEST_CASE("joules that are no number do not count, and an estimate replaces lost counters",
          "[tools][cluster]") {
  UseByNode use;
  use.report("a", 7, {.requests = 1, .joules = 8, .counted = true});
  use.report("a", 7, {.requests = 2, .joules = std::numeric_limits<double>::infinity()});
  use.report("a", 7, {.requests = 2, .joules = -1});
  CHECK(use.sums()["a"].joules == 8);
  use.report("a", 7, {.requests = 3, .joules = 5});
  CHECK(use.sums() == Sums{{"a", {.requests = 3, .joules = 5, .counted = false}}});
  use.report("a", 7, {.requests = 3, .joules = 9, .counted = true});  // sent before the loss
  CHECK(use.sums()["a"].joules == 5);
}

}  // namespace
}  // namespace forebay
