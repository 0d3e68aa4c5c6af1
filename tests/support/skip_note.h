#pragma once

#include <cstdio>
#include <string>

namespace forebay::test {

/// Notes why this machine cannot run a test, or a part of it. `tools/test_summary.py` finds the
/// line in the output and names the test.
inline void note_skipped(const std::string& why) {
  std::printf("skipped '%s'\n", why.c_str());
  std::fflush(stdout);
}

}  // namespace forebay::test
