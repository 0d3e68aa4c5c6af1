#include "tools/terminal/progress.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;

}  // namespace

TEST_CASE("indexing prints nothing for three seconds, then a line every three",
          "[tools][indexing_progress]") {
  IndexingProgress progress(10s);
  CHECK_FALSE(progress.line(1 << 20, 4 << 20, 12s));
  // A quarter took 3 s, so three quarters take 9.
  CHECK(progress.line(1 << 20, 4 << 20, 13s).value_or("-") ==
        "indexed 1 MiB of 4 MiB (25 %), 9.0 s left");
  CHECK_FALSE(progress.line(2 << 20, 4 << 20, 15s));
  CHECK(progress.line(2 << 20, 4 << 20, 16s).value_or("-") ==
        "indexed 2 MiB of 4 MiB (50 %), 6.0 s left");
}

TEST_CASE("indexing that has read nothing yet shows no remaining time",
          "[tools][indexing_progress]") {
  IndexingProgress progress(0s);
  CHECK(progress.line(0, 4 << 20, 3s).value_or("-") == "indexing 4 MiB");
  CHECK(progress.line(0, 0, 6s).value_or("-") == "indexing 0 B");
}

}  // namespace forebay
