#pragma once

#include <thread>

namespace forebay::test {

/// Lets other threads run until `condition` holds; the test's own timeout is
/// the bound.
template <class Condition>
void wait_until(Condition condition) {
  while (!condition()) std::this_thread::yield();
}

}  // namespace forebay::test
