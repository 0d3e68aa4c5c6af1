#include "engine/run/memory_watch.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;
using MemoryVerdict = ResidentLimit::Verdict;

constexpr std::uint64_t kLimitMiB = std::uint64_t{1} << 20;

/// Looks 50 ms apart; sizes in MiB.
struct Queries {
  MemoryVerdict next(std::uint64_t resident, std::uint64_t limit, std::uint64_t accounted) {
    at += 50ms;
    return watched.look({at, resident * kLimitMiB, limit * kLimitMiB, accounted * kLimitMiB});
  }
  ResidentLimit watched;
  std::chrono::nanoseconds at{0};
};

}  // namespace

TEST_CASE("memory that stays over the limit is found after 200 ms", "[tools][resident_limit]") {
  Queries looks;
  CHECK(looks.next(400, 400, 300) == MemoryVerdict::kWithin);
  CHECK(looks.next(401, 400, 300) == MemoryVerdict::kSuspect);
  for (int i = 0; i < 3; ++i) CHECK(looks.next(401, 400, 300) == MemoryVerdict::kWithin);
  CHECK(looks.next(401, 400, 300) == MemoryVerdict::kOver);
}

TEST_CASE("a short peak fails nothing, and the next one is measured anew",
          "[tools][resident_limit]") {
  Queries looks;
  for (int round = 0; round < 2; ++round) {
    CHECK(looks.next(500, 400, 300) == MemoryVerdict::kSuspect);
    CHECK(looks.next(500, 400, 300) == MemoryVerdict::kWithin);
    CHECK(looks.next(399, 400, 300) == MemoryVerdict::kWithin);
  }
}

TEST_CASE("after a limit was lowered, accounted memory may stay until it is used up",
          "[tools][resident_limit]") {
  Queries looks;
  // 10 MiB are resident beside the account of 380.
  CHECK(looks.next(390, 400, 380) == MemoryVerdict::kWithin);
  for (int i = 0; i < 20; ++i) CHECK(looks.next(390, 200, 380) == MemoryVerdict::kWithin);
  // Freed buffers lower resident memory; it varies by 8 MiB.
  for (const std::uint64_t accounted : {370, 300, 190}) {
    CHECK(looks.next(accounted + 18, 200, accounted) == MemoryVerdict::kWithin);
  }
  CHECK(looks.next(199, 200, 190) == MemoryVerdict::kWithin);
  // From here on the limit applies as it is set.
  CHECK(looks.next(201, 200, 190) == MemoryVerdict::kSuspect);
}

TEST_CASE("growth beside the account is found while a lowered limit is not reached yet",
          "[tools][resident_limit]") {
  Queries looks;
  CHECK(looks.next(390, 400, 380) == MemoryVerdict::kWithin);
  CHECK(looks.next(390, 200, 380) == MemoryVerdict::kWithin);
  CHECK(looks.next(399, 200, 380) == MemoryVerdict::kSuspect);  // 380 + 10 + 8 < 399
  for (int i = 0; i < 3; ++i) looks.next(400, 200, 380);
  CHECK(looks.next(400, 200, 380) == MemoryVerdict::kOver);
}

TEST_CASE("a limit lowered again keeps the larger allowance, and a raised limit applies at once",
          "[tools][resident_limit]") {
  Queries looks;
  CHECK(looks.next(390, 400, 370) == MemoryVerdict::kWithin);  // 20 beside
  CHECK(looks.next(390, 300, 370) == MemoryVerdict::kWithin);
  CHECK(looks.next(375, 250, 370) == MemoryVerdict::kWithin);  // 5 beside now
  CHECK(looks.next(388, 250, 360) == MemoryVerdict::kWithin);  // 360 + 20 + 8
  CHECK(looks.next(388, 500, 360) == MemoryVerdict::kWithin);
  CHECK(looks.next(501, 500, 360) == MemoryVerdict::kSuspect);
}

}  // namespace forebay
