#include "tools/terminal/summary.h"

#include "tools/terminal/progress.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

struct Finished {
  RunOutcome outcome;
  SummaryView view{.outcome = outcome, .cpus = 8};

  Finished() {
    outcome.rows = 1'000'000;
    outcome.batches = 123;
    outcome.seconds = 4;
    outcome.starved_ratio = 0.6;
    outcome.peak_memory_bytes = 312ULL << 20;
    outcome.memory_limit = 400ULL << 20;
    outcome.cpus_busy = 2.5;
    view.stages = {
        {.name = "load", .actors = 1, .busy_share = 0.1, .cpu_share = 1},
        {.name = "decode", .actors = 2, .busy_share = 0.98, .cpu_share = 1, .queued = 4}};
  }
  Finished(const Finished&) = delete;
  Finished& operator=(const Finished&) = delete;
};

}  // namespace

TEST_CASE("the busiest stage is the bottleneck, with its queue and what to do",
          "[tools][summary]") {
  CHECK(name_bottleneck(Finished().view) ==
        "decode is the bottleneck: its 2 actors were busy 98 % of the time and 4 splits waited for "
        "it; "
        "give it more actors (pipeline.allocation.decode)");
}

TEST_CASE("requests and bytes are money: those of workers are named", "[tools][summary]") {
  Finished run;
  run.outcome.requests = 1200;
  run.outcome.bytes_read = 3 << 20;
  CHECK(format_summary(run.view).find("1,200 requests to files and stores, 3 MiB read\n") !=
        std::string::npos);
  run.outcome.asked_by_node = {{"w1", {.requests = 1000, .bytes = 1 << 20}},
                               {"w2", {.requests = 10, .bytes = 1 << 20}}};
  CHECK(format_summary(run.view).find(" 3 MiB read (by workers: 1,010, 2 MiB)\n") !=
        std::string::npos);
}

TEST_CASE("a stage that waits for the disk is reported as such", "[tools][summary]") {
  Finished run;
  SummaryView& view = run.view;
  std::swap(view.stages[0].busy_share, view.stages[1].busy_share);
  view.stages[0].cpu_share = 0.2;
  CHECK(name_bottleneck(view).find("waited for the disk") != std::string::npos);
}

TEST_CASE("a trainer that hardly waits is the bottleneck", "[tools][summary]") {
  Finished run;
  SummaryView& view = run.view;
  run.outcome.starved_ratio = 0.01;
  CHECK(name_bottleneck(view).starts_with("the trainer is the bottleneck: it waited for data 1 %"));
  view.consumer = SummaryView::Consumer::kNobody;
  CHECK(name_bottleneck(view).starts_with("decode is the bottleneck"));
}

TEST_CASE("full CPUs are reported before a stage", "[tools][summary]") {
  Finished run;
  SummaryView& view = run.view;
  view.cpus = 2;
  run.outcome.cpus_busy = 1.9;
  // Decode takes 2 × 0.98 = 1.96 of 1.96 + 0.1 actor-seconds a second.
  CHECK(name_bottleneck(view).starts_with(
      "not enough CPUs: 1.9 of 2 were busy, and decode took 95 % of the stages' work"));
}

TEST_CASE("without rows or a busy stage no stage is named the bottleneck", "[tools][summary]") {
  Finished run;
  SummaryView& view = run.view;
  view.stages[1].busy_share = 0.3;
  CHECK(name_bottleneck(view).starts_with(
      "no stage was the bottleneck: decode, the busiest, worked 30 %"));
  run.outcome.rows = 0;
  CHECK(name_bottleneck(view).starts_with("no rows came through"));
}

TEST_CASE("a summary has the figures and a line a stage", "[tools][summary]") {
  const std::string text = format_summary(Finished().view);
  CHECK(text.starts_with("1,000,000 rows in 123 batches, 4.0 s, 250,000 rows/s\n"));
  CHECK(
      text.find("starved 60 % of the time, peak memory 312 MiB of 400 MiB, 2.5 of 8 CPUs busy\n") !=
      std::string::npos);
  CHECK(text.find("  decode          2      98 %") != std::string::npos);
}

TEST_CASE("a stage with a long name does not move the columns", "[tools][summary]") {
  Finished run;
  SummaryView& view = run.view;
  view.stages[1].name = "a-stage-with-a-name-of-32-letter";
  const std::string text = format_summary(view);
  const auto line_of = [&](const std::string& name) {
    const std::size_t begin = text.find("  " + name);
    return text.substr(begin, text.find('\n', begin) - begin);
  };
  CHECK(line_of("load").find(" 10 %") == line_of(view.stages[1].name).find(" 98 %"));
  CHECK(line_of("stage").find(" busy") == line_of("load").find(" 10 %"));
}

TEST_CASE("a progress line shows rows, rate, starved ratio, memory, stages and time left",
          "[tools][progress]") {
  ProgressView view{.rows = 1'200'000,
                    .rows_wanted = 4'000'000,
                    .rows_per_second = 400'000,
                    .starved_ratio = 0.03,
                    .memory_bytes = 312ULL << 20,
                    .memory_limit = 400ULL << 20};
  view.stages = Finished().view.stages;
  // 2.8 M rows at 0.4 M rows/s are 7 s.
  CHECK(format_progress(view) ==
        "1,200,000 of 4,000,000 rows (30 %), 400 k rows/s, starved 3 %, 312 MiB of 400 MiB | load "
        "1×10 % "
        "decode 2×98 % | 7.0 s left");
  view.rows_wanted.reset();
  CHECK(format_progress(view).starts_with("1,200,000 rows, "));
  view.lookups_ready = 0.99899;  // Never more than there was.
  CHECK(format_progress(view).find(", starved 3 %, rows ready 99.8 %, 312 MiB") !=
        std::string::npos);
}

TEST_CASE("a line is cut by letters, not bytes", "[tools][progress]") {
  CHECK(fit_line("1×10 %", 2) == "1×");
  CHECK(fit_line("1×10 %", 80) == "1×10 %");
}

}  // namespace forebay
