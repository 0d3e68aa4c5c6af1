#include "actors/sizing.h"
#include "core/base/random.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;
const MemorySizes kSizes{
    .usual_split = 2 * kMiB, .largest_split = 3 * kMiB, .batch = kMiB, .cutting = 4 * kMiB};
/// The memory of two other actors.
constexpr std::uint64_t kOthers = 2 * kThreadBytes;

std::uint64_t room_for_buffers(std::uint64_t bytes, std::uint64_t threads) {
  return bytes + kOthers + threads * kThreadBytes;
}

}  // namespace

TEST_CASE("with enough memory, window and prefetch get the sizes they want",
          "[actors][memory_shares]") {
  const MemoryShares shares =
      share_memory(room_for_buffers(100 * kMiB, 4), kSizes,
                   {.actors = 4, .stages = 4, .threads = 4, .prefetch = 10 * kMiB});
  CHECK(shares.buffers == 100 * kMiB);
  CHECK(shares.window == 20 * kMiB);  // 4 actors, 4 stages and 2, of 2 MiB
  CHECK(shares.window_wanted == shares.window);
  CHECK(shares.prefetch == 10 * kMiB);
}

TEST_CASE("child processes of actors are no memory for buffers", "[actors][memory_shares]") {
  MemorySizes sizes = kSizes;
  sizes.children = {0, 0, 0, 50 * kMiB};
  const MemoryDemand demand{.actors = 4,
                            .stages = 4,
                            .threads = 4,
                            .children = children_bytes(sizes, {1, 1, 1, 2}),
                            .prefetch = 10 * kMiB};
  CHECK(demand.children == 100 * kMiB);
  CHECK(share_memory(room_for_buffers(200 * kMiB, 4), sizes, demand).buffers == 100 * kMiB);
  CHECK(least_room(4, sizes) == least_room(4, kSizes) + 50 * kMiB);
  CHECK(children_bytes(sizes, {}) == 0);
}

TEST_CASE("the window holds as many splits made in parts as are wanted",
          "[actors][memory_shares]") {
  MemorySizes sizes = kSizes;
  sizes.held = 30 * kMiB;
  const MemoryDemand demand{.actors = 4, .stages = 4, .threads = 4, .prefetch = 10 * kMiB};
  const std::uint64_t room = room_for_buffers(200 * kMiB, 4);
  CHECK(share_memory(room, sizes, demand).window == 60 * kMiB);
  sizes.splits_held = 3;  // as of a store
  CHECK(share_memory(room, sizes, demand).window == 90 * kMiB);
  CHECK(share_memory(room, sizes, demand).parts == 20 * kMiB);
}

TEST_CASE("splits that may wait between stages widen the window in memory that is left",
          "[actors][memory_shares]") {
  MemoryDemand demand{.actors = 4, .stages = 4, .threads = 4, .prefetch = 10 * kMiB, .deepened = 7};
  const std::uint64_t room = room_for_buffers(100 * kMiB, 4);
  CHECK(share_memory(room, kSizes, demand).window == 34 * kMiB);  // 20 MiB and 7 splits of 2
  CHECK(share_memory(room, kSizes, demand).prefetch == 10 * kMiB);
  const std::uint64_t less = room_for_buffers(40 * kMiB, 4);
  CHECK(share_memory(less, kSizes, demand).window == 25 * kMiB);  // 40 without 10, 4 and 1
  CHECK(share_memory(less, kSizes, demand).window_wanted == 34 * kMiB);
  demand.elsewhere = 2;  // workers have splits of their own
  CHECK(share_memory(room, kSizes, demand).window == 24 * kMiB);
}

TEST_CASE("splits that wait for a slow one give up their room to others where memory is left",
          "[actors][memory_shares]") {
  MemoryDemand demand{.actors = 4, .stages = 4, .threads = 4, .prefetch = 10 * kMiB};
  demand.window_used = 20 * kMiB;
  demand.window_waiting = 18 * kMiB;
  CHECK(share_memory(room_for_buffers(100 * kMiB, 4), kSizes, demand).window == 38 * kMiB);
  // 40: 4 of cutting, 1 of the trainer, 10 of prefetch and 20 of window leave 5.
  const MemoryShares few = share_memory(room_for_buffers(40 * kMiB, 4), kSizes, demand);
  CHECK(few.window == 25 * kMiB);
  CHECK(few.window_wanted == 38 * kMiB);
  CHECK(few.prefetch == 10 * kMiB);
  CHECK(share_memory(room_for_buffers(27 * kMiB, 4), kSizes, demand).window == 20 * kMiB);
  demand.elsewhere = 3;
  CHECK(share_memory(room_for_buffers(100 * kMiB, 4), kSizes, demand).window == 26 * kMiB);
  demand.elsewhere = 0;
  // Splits that are made in parts wait in a budget of their own.
  MemorySizes sizes = kSizes;
  sizes.held = 30 * kMiB;
  CHECK(share_memory(room_for_buffers(200 * kMiB, 4), sizes, demand).window == 60 * kMiB);
}

TEST_CASE("prefetch shrinks first, then the window down to the least", "[actors][memory_shares]") {
  const MemoryDemand demand{.actors = 4, .stages = 4, .threads = 4, .prefetch = 10 * kMiB};
  // 27: 4 of cutting, 1 of the trainer, 20 of window, 2 left.
  CHECK(share_memory(room_for_buffers(27 * kMiB, 4), kSizes, demand).prefetch == 2 * kMiB);
  // 20: 4, 1 and 1 of prefetch; 14 left.
  const MemoryShares narrow = share_memory(room_for_buffers(20 * kMiB, 4), kSizes, demand);
  CHECK(narrow.window == 14 * kMiB);
  CHECK(narrow.window_wanted == 20 * kMiB);
  CHECK(narrow.prefetch == kMiB);
  const MemoryShares least = share_memory(0, kSizes, demand);
  CHECK(least.window == kSizes.largest_split);
  CHECK(least.prefetch == kSizes.batch);
}

TEST_CASE("a share does not grow into bytes that the other share still holds",
          "[actors][memory_shares]") {
  const std::uint64_t room = room_for_buffers(30 * kMiB, 4);
  // Of 25 the window takes 20; eight batches still fit.
  const MemoryShares first = share_memory(room, kSizes,
                                          {.actors = 4,
                                           .stages = 4,
                                           .threads = 4,
                                           .prefetch = kMiB,
                                           .window_used = 0,
                                           .prefetch_used = 8 * kMiB});
  CHECK(first.window == 17 * kMiB);
  // The window needs 12 of them and holds 20.
  const MemoryShares then = share_memory(room, kSizes,
                                         {.actors = 0,
                                          .stages = 4,
                                          .threads = 4,
                                          .prefetch = 13 * kMiB,
                                          .window_used = 20 * kMiB,
                                          .prefetch_used = kMiB});
  CHECK(then.window == 12 * kMiB);
  CHECK(then.prefetch == 5 * kMiB);
}

TEST_CASE("window and prefetch stay within the buffers for any demand", "[actors][memory_shares]") {
  constexpr std::uint64_t kSeed = 11;
  Random random(kSeed);
  MemoryShares shares;
  for (int round = 0; round < 20000; ++round) {
    MemoryDemand demand;
    demand.actors = 4 + random.below(60);
    demand.stages = 4 + random.below(8);
    demand.threads = demand.actors + random.below(20);
    demand.prefetch = random.below(64 * kMiB);
    // The memory in use is at most an earlier share; it may not have been freed yet.
    demand.window_used = random.below(shares.window + 1);
    demand.window_waiting = random.below(demand.window_used + 1);
    demand.prefetch_used = random.below(shares.prefetch + 1);
    const std::uint64_t room = least_room(demand.threads, kSizes) + random.below(200 * kMiB);
    const MemoryShares next = share_memory(room, kSizes, demand);
    const std::uint64_t outside = kSizes.cutting + kSizes.batch;
    REQUIRE(next.window + next.prefetch + outside <= next.buffers);
    REQUIRE(next.window >= kSizes.largest_split);
    REQUIRE(next.prefetch >= kSizes.batch);
    const bool least = next.window == kSizes.largest_split;
    REQUIRE((least || next.window + demand.prefetch_used + outside <= next.buffers));
    const bool one = next.prefetch == kSizes.batch;
    REQUIRE((one || demand.window_used + next.prefetch + outside <= next.buffers));
    shares = next;
  }
}

}  // namespace forebay
