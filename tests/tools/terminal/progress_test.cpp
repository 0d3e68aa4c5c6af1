#include "tools/terminal/progress.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;

}  // namespace

TEST_CASE("indexing shows bytes, rate and the time that is left by that rate",
          "[tools][indexing_progress]") {
  IndexingProgress progress;
  progress.add(1 << 20, 9 << 20, 100s);  // The first MiB came after 100 s of listings.
  CHECK(progress.line(100s) == "indexed 1 MiB of 9 MiB (11 %)");
  progress.add(3 << 20, 9 << 20, 102s);
  // 2 MiB came in 2 s, so the 6 MiB that are left take 6.
  CHECK(progress.line(102s) == "indexed 3 MiB of 9 MiB (33 %), 1 MiB/s | 6.0 s left");
  // A look without new bytes: 2 MiB in 4 s.
  CHECK(progress.line(104s) == "indexed 3 MiB of 9 MiB (33 %), 512 KiB/s | 12 s left");
}

TEST_CASE("the time of one dataset is no part of the next one's rate",
          "[tools][indexing_progress]") {
  IndexingProgress progress;
  progress.add(1 << 20, 2 << 20, 0s);
  progress.add(2 << 20, 2 << 20, 60s);
  progress.add(1 << 20, 4 << 20, 70s);
  progress.add(2 << 20, 4 << 20, 71s);
  CHECK(progress.line(71s) == "indexed 2 MiB of 4 MiB (50 %), 1 MiB/s | 2.0 s left");
}

TEST_CASE("indexing that has read nothing yet shows no remaining time",
          "[tools][indexing_progress]") {
  IndexingProgress progress;
  CHECK(progress.line(6s) == "indexing 0 B");
  progress.add(0, 4 << 20, 3s);
  CHECK(progress.line(6s) == "indexing 4 MiB");
}

}  // namespace forebay
