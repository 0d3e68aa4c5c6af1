#pragma once

#include <exception>

#include <omp.h>

namespace forebay {

/// Calls `work(task, thread)` for each task in [0, tasks), on at most `threads` threads numbered
/// from 0; a free thread takes the next task. Returns when all tasks are done; rethrows an
/// exception of `work`. Inside, libtorch's own operators run on the calling thread alone.
template <class Work>
void for_each_task(int threads, int tasks, const Work& work) {
  std::exception_ptr thrown;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (threads > 1)
  for (int task = 0; task < tasks; ++task) {
    try {
      work(task, omp_get_thread_num());
    } catch (...) {
#pragma omp critical
      thrown = std::current_exception();
    }
  }
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace forebay
