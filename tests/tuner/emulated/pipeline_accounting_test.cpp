#include "tests/tuner/sim/models.h"
#include "tuner/emulated/emulated_pipeline.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

constexpr std::uint64_t kMegabyte = 1'000'000;

/// Two stages of 1 MB an actor and a split, 10 MB at the start, queues of 4, prefetch of 4.
PipelineModel two_stages(std::uint64_t megabytes) {
  PipelineModel model = line_of({stage("load", 0.1), stage("udf", 0.1)});
  model.memory_bytes = megabytes * kMegabyte;
  return model;
}

Census census(std::uint32_t actors, std::uint32_t leaving, std::uint32_t queued,
              std::uint32_t prefetched) {
  return {.actors = {actors, 1},
          .leaving = {leaving, 0},
          .queued = {queued, prefetched},
          .prefetch = 4};
}

TEST_CASE("memory in use is the base, the actors and the queued splits", "[tuner][emulated]") {
  PipelineAccounting accounting(two_stages(100));
  accounting.note(0, census(3, 0, 2, 4), 100 * kMegabyte);
  CHECK(accounting.memory_bytes() == 20 * kMegabyte);  // 10 + 4 + 2 + 4
  accounting.note(1, census(1, 0, 0, 0), 100 * kMegabyte);
  CHECK(accounting.memory_bytes() == 12 * kMegabyte);
  CHECK(accounting.take().memory_peak == 20 * kMegabyte);
  CHECK(accounting.take().memory_peak == 12 * kMegabyte);
  CHECK(accounting.memory_peak() == 20 * kMegabyte);
}

TEST_CASE("fills are means over time, and becoming full is counted", "[tuner][emulated]") {
  PipelineAccounting accounting(two_stages(100));
  accounting.note(1, census(1, 0, 4, 2), 100 * kMegabyte);
  accounting.note(3, census(1, 0, 0, 4), 100 * kMegabyte);
  accounting.note(4, census(1, 0, 0, 4), 100 * kMegabyte);
  accounting.note_empty();
  const PipelineAccounting::Interval interval = accounting.take();
  CHECK(interval.seconds == 4);
  CHECK(interval.queue_fill[0] == Approx(0.5));  // Full for 2 of 4 s.
  CHECK(interval.queue_fill[1] == Approx(0.5));  // Half for 2 s, full for 1 s.
  CHECK(interval.prefetch_full == 1);
  CHECK(interval.prefetch_empty == 1);
  CHECK(accounting.take().prefetch_empty == 0);
}

TEST_CASE("in use above the limit at any moment is out of memory", "[tuner][emulated]") {
  PipelineAccounting accounting(two_stages(20));
  accounting.note(0, census(3, 0, 2, 4), 20 * kMegabyte);
  CHECK_FALSE(accounting.out_of_memory());
  accounting.note(1, census(3, 0, 3, 4), 20 * kMegabyte);
  CHECK(accounting.out_of_memory());
}

TEST_CASE("a lowered limit is enforced four seconds later", "[tuner][emulated]") {
  PipelineAccounting accounting(two_stages(40));
  accounting.note(0, census(9, 0, 0, 0), 40 * kMegabyte);  // 20 MB.
  accounting.note(1, census(9, 0, 0, 0), 18 * kMegabyte);
  accounting.note(4.9, census(9, 0, 0, 0), 18 * kMegabyte);
  CHECK_FALSE(accounting.out_of_memory());
  SECTION("actors that stay are counted") {
    accounting.note(5, census(9, 0, 0, 0), 18 * kMegabyte);
    CHECK(accounting.out_of_memory());
  }
  SECTION("actors that were leaving before are not counted, as long as they take") {
    accounting.note(5, census(9, 2, 0, 0), 18 * kMegabyte);
    CHECK_FALSE(accounting.out_of_memory());
    accounting.note(6, census(8, 1, 0, 0), 18 * kMegabyte);
    CHECK_FALSE(accounting.out_of_memory());
    accounting.note(7, census(8, 0, 0, 0), 18 * kMegabyte);  // One actor stays after all: 19 MB.
    CHECK(accounting.out_of_memory());
  }
}

}  // namespace
}  // namespace forebay::tuner
