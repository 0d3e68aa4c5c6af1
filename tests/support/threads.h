#pragma once

#include <cstddef>
#include <filesystem>
#include <iterator>

namespace forebay::test {

/// The number of threads that this process has now.
inline std::size_t threads_of_this_process() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

}  // namespace forebay::test
