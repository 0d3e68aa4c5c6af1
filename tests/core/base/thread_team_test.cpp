#include "core/base/thread/thread_team.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "tests/support/catch.h"

namespace forebay {
namespace {

TEST_CASE("a team's members work once a round each, at the same time", "[core][base]") {
  for (const std::size_t members : {0, 1, 2, 5}) {
    ThreadTeam team(members);
    std::vector<int> rounds(team.members());
    CHECK(team.members() == std::max<std::size_t>(members, 1));
    for (int round = 0; round < 200; ++round) {
      std::atomic<std::size_t> here{0};
      team.run([&](std::size_t member) {
        ++rounds[member];
        ++here;
        while (here < team.members()) std::this_thread::yield();
      });
    }
    CHECK(rounds == std::vector<int>(team.members(), 200));
  }
}

TEST_CASE("a team does each piece of work once, whoever of its callers brings it", "[core][base]") {
  ThreadTeam team(3);
  std::vector<std::vector<int>> done(2, std::vector<int>(500));
  std::atomic<bool> known{true};
  const auto bring = [&](std::vector<int>& mine) {
    for (int round = 0; round < 20; ++round) {
      team.for_each(mine.size(), [&](std::size_t i, std::size_t member) {
        ++mine[i];
        if (member >= 3) known = false;
      });
    }
  };
  {
    const std::jthread other([&] { bring(done[1]); });
    bring(done[0]);
  }
  CHECK(done[0] == std::vector<int>(500, 20));
  CHECK(done[1] == done[0]);
  CHECK(known);
  team.for_each(0, [](std::size_t, std::size_t) { FAIL("nothing is to be done"); });
}

}  // namespace
}  // namespace forebay
