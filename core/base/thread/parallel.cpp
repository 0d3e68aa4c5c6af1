#include "core/base/thread/parallel.h"

#include <algorithm>

#include "core/base/thread/thread_team.h"

namespace forebay {

void for_each_in_parallel(std::size_t count, int threads,
                          const std::function<void(std::size_t)>& body) {
  ThreadTeam team(std::min(count, static_cast<std::size_t>(std::max(threads, 1))));
  team.for_each(count, [&](std::size_t i, std::size_t) { body(i); });
}

}  // namespace forebay
