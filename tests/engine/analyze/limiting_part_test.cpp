#include "engine/analyze/limiting_part.h"

#include "tests/engine/analyze/analyzed_run.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using Catch::Detail::Approx;

/// A starved trainer; load works all the time on a disk, and half of the CPUs are free.
Activity slow_load() {
  return {.seconds = 10,
          .rows = 1000,
          .starved_ratio = 0.9,
          .cpus_busy = 1,
          .cpus = 2,
          .stages = {{.name = "load", .actors = 1, .busy_share = 0.98, .cpu_share = 0.1},
                     {.name = "decode", .actors = 1, .busy_share = 0.3, .cpu_share = 1},
                     {.name = "batch", .actors = 1, .busy_share = 0.2, .cpu_share = 1}}};
}

LimitingPart limit_of(const Activity& activity, const std::vector<Piece>& pieces = {}) {
  return limiting_part_of(activity, test::stages_of_a_job(), pieces);
}

}  // namespace

TEST_CASE("the limiting part is the busiest stage's, in the words of the verdict",
          "[engine][analyze]") {
  CHECK(limit_of(slow_load()).part == "fetch");
  CHECK(limit_of(slow_load()).sentence == judge(slow_load()).sentence);
  Activity batches = slow_load();
  batches.stages[2].busy_share = 1;
  CHECK(limit_of(batches).part == "hand-over");
}

TEST_CASE("the trainer that never waits limits, whatever the stages do", "[engine][analyze]") {
  Activity fed = slow_load();
  fed.starved_ratio = 0.02;
  CHECK(limit_of(fed).part == "trainer");
}

TEST_CASE("where all CPUs are used, the part that takes most of them limits", "[engine][analyze]") {
  Activity full = slow_load();
  full.cpus_busy = 1.95;
  CHECK(limit_of(full, {{.name = "decode", .part = Part::kDecode, .cpu = 2},
                        {.name = "load", .part = Part::kFetch, .busy = 9, .cpu = 1}})
            .part == "decode");
}

TEST_CASE("full memory with idle stages limits, unless workers make the splits: then the link does",
          "[engine][analyze]") {
  Activity full = slow_load();
  full.stages[0].busy_share = 0.3;
  full.window_bytes = 97;
  full.window_capacity = 100;
  full.window_wanted = 120;
  const std::vector<Piece> from_workers = {{.name = "link", .part = Part::kLink, .busy = 1}};
  CHECK(limit_of(full).part == "memory");
  CHECK(limit_of(full, from_workers).part == "link");
  // A busy stage limits, wherever the splits come from.
  CHECK(limit_of(slow_load(), from_workers).part == "fetch");
}

TEST_CASE("a part limits before the first large batch is full", "[engine][analyze]") {
  test::AnalyzedRun run;
  run.stage(1, {.busy = 9.9, .cpu = 9.8, .idle = 0.1});
  run.last.rows = 0;
  const Activity activity = activity_of(run.first, run.last, 4);
  CHECK(limiting_part_of(activity, test::stages_of_a_job(), {}).part == "decode");
}

TEST_CASE("CPUs that a run wanted while others had them count as used", "[engine][analyze]") {
  test::AnalyzedRun run;
  run.stage(1, {.busy = 9.2, .cpu = 4.2, .ready = 5, .idle = 0.8});
  run.last.worked = test::seconds(2);
  run.last.waited = test::seconds(8);
  const Activity activity = activity_of(run.first, run.last, 1);
  CHECK(activity.starved_ratio == Approx(0.8));
  CHECK(activity.cpus_busy == Approx(0.42));
  CHECK(activity.stages[1].busy_share == Approx(0.92));
  CHECK(activity.stages[1].ready_share == Approx(0.5));
  // 4.2 used and 5 wanted of 10 s.
  const Verdict verdict = judge(activity);
  CHECK(verdict.limit == Limit::kCpus);
  CHECK(verdict.stage == "decode");
  CHECK(verdict.sentence.starts_with(
      "not enough CPUs: 0.4 of 1 were busy and other programs took 0.5, and decode took 100 %"));
}

}  // namespace forebay
