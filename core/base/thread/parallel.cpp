#include "core/base/thread/parallel.h"

#include <algorithm>
#include <system_error>
#include <thread>
#include <vector>

namespace forebay {

void for_each_in_parallel(std::size_t count, int threads,
                          const std::function<void(std::size_t)>& body) {
  std::atomic<std::size_t> taken{0};
  const auto work = [&] {
    for (std::size_t i = taken++; i < count; i = taken++) body(i);
  };
  std::vector<std::jthread> others;
  const std::size_t wanted = std::min(count, static_cast<std::size_t>(std::max(threads, 1)));
  try {
    for (std::size_t i = 1; i < wanted; ++i) others.emplace_back(work);
  } catch (const std::system_error&) {
    // The system has no more threads: the threads started so far do all of the work.
  }
  work();
}

}  // namespace forebay
