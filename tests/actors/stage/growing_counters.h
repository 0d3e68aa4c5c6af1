#pragma once

#include <cstddef>
#include <vector>

#include "actors/stage/fused_work.h"

#include "tests/support/catch.h"

namespace forebay::test {

/// Requires that no counter of a stage has fallen.
inline void require_growing(const std::vector<StageStats>& before,
                            const std::vector<StageStats>& now) {
  for (std::size_t stage = 0; stage < now.size(); ++stage) {
    const ActorTotals& a = before[stage].pool.totals;
    const ActorTotals& b = now[stage].pool.totals;
    REQUIRE(b.busy >= a.busy);
    REQUIRE(b.cpu >= a.cpu);
    REQUIRE(b.wait_input >= a.wait_input);
    REQUIRE(b.wait_output >= a.wait_output);
    REQUIRE(b.messages >= a.messages);
    REQUIRE(b.done.time >= a.done.time);
  }
}

}  // namespace forebay::test
