#include "tools/inspect/belief_words.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using Lines = std::vector<std::string>;

tuner::PipelineDescription two_stages() {
  return {.stages = {{"load", 8, 1 << 20}, {"decode", 8, 1 << 20}},
          .prefetch_item_bytes = 1 << 20,
          .fixed_bytes = 10 << 20};
}

tuner::Decision decision() {
  tuner::Decision decision;
  decision.seen.seconds = 2;
  decision.seen.trainer_wait_seconds = 0.5;
  decision.seen.limits = {.cpus = 4, .memory_bytes = 100 << 20};
  decision.seen.stages.resize(2);
  decision.seen.stages[0].actors = 1;
  decision.seen.stages[1].actors = 3;
  decision.seen.stages[1].cpu_seconds = 6;
  decision.applied = {.actors = {1, 3}, .prefetch = 6};
  decision.proposal.beliefs = {
      .stages = {{.seconds = 0.0125,
                  .cpu = 0.1,
                  .max_rate = 64.8,
                  .rate = 64.8,
                  .noise = 0.2,
                  .doubt = 0.01},
                 {.seconds = 0.05, .slow = 1.5, .rate = 40, .noise = 0.4, .doubt = 0.11}},
      .trainer_rate = 80,
      .cpus = 3.5,
      .missing = 0.12};
  return decision;
}

tuner::Decision reasoned(std::uint64_t number, const char* reason, const char* outcome = "") {
  tuner::Decision decision;
  decision.number = number;
  decision.proposal.reason = reason;
  decision.proposal.beliefs.outcome = outcome;
  return decision;
}

TEST_CASE("a line says what is believed of the trainer, of each resource and of each stage",
          "[tools][beliefs]") {
  // 10 + 1 + 3 + 6 MiB at worst; 6 seconds of CPU in 2 seconds.
  CHECK(belief_words(decision(), two_stages()) ==
        Lines{"  trainer      takes at most 80 splits/s, and waited 25 % of the time; 12 % of what "
              "the costs allow is missing",
              "  CPUs         3.5 for the stages, which use 3",
              "  memory       20 MiB at worst, of 100 MiB",
              "  load         12.5 ms a split, 10 % of it on a CPU; 1 actor makes 64.8 splits/s; a "
              "disk or a link allows 64.8 splits/s; splits vary by 20 %, the mean is known well",
              "  decode       50 ms a split, 100 % of it on a CPU; 3 actors make 40 splits/s, the "
              "fewest; they slow one another 1.5 times; splits vary by 40 %, the mean is known "
              "within 11 %"});
}

TEST_CASE("what is used up is called the limit", "[tools][beliefs]") {
  tuner::Decision full = decision();
  full.seen.stages[1].cpu_seconds = 7;
  full.seen.limits.memory_bytes = 20 << 20;
  full.seen.trainer_wait_seconds = 0;
  full.proposal.beliefs.missing = 0;
  full.proposal.beliefs.stages[0].seconds = 0;
  const Lines lines = belief_words(full, two_stages());
  REQUIRE(lines.size() == 5);
  CHECK(lines[0] == "  trainer      takes at most 80 splits/s, and is fed");
  CHECK(lines[1] == "  CPUs         3.5 for the stages, which use 3.5: the limit");
  CHECK(lines[2] == "  memory       20 MiB at worst, of 20 MiB: the limit");
  CHECK(lines[3] == "  load         has not finished a split yet");
}

TEST_CASE("actors make no more splits than their CPUs allow", "[tools][beliefs]") {
  tuner::Decision few = decision();
  few.seen.stages[1].actors = 4;
  few.proposal.beliefs.cpus = 2;
  few.proposal.beliefs.stages[0].rate = 30;
  // 4 / 0.1 = 40, but 2 CPUs make 2 / 0.1 = 20 splits/s.
  few.proposal.beliefs.stages[1] = {.seconds = 0.1, .rate = 40};
  const Lines lines = belief_words(few, two_stages());
  REQUIRE(lines.size() == 5);
  CHECK(lines[3].find("1 actor makes 30 splits/s; ") != std::string::npos);
  CHECK(lines[4].find("4 actors make 20 splits/s, the fewest; ") != std::string::npos);
}

TEST_CASE("a policy without beliefs has no words", "[tools][beliefs]") {
  tuner::Decision none = decision();
  none.proposal.beliefs = {};
  CHECK(belief_words(none, two_stages()).empty());
}

TEST_CASE("a try has a line when it begins and one when it ends", "[tools][beliefs]") {
  const Lines lines = try_words(
      {reasoned(1, "first plan: load 1 to 3"), reasoned(2, "tests decode: decode 3 to 5"),
       reasoned(3, "tests decode"), reasoned(4, "stays", "decode from 3 to 5 actors: wrong"),
       reasoned(5, "tests decode: decode 3 to 2", "the plan brought 3 % more: it stays"),
       reasoned(6, "less than the costs allow: tries more prefetch")});
  CHECK(lines == Lines{"   2 tests decode: decode 3 to 5",
                       "   4 came of it: decode from 3 to 5 actors: wrong",
                       "   5 came of it: the plan brought 3 % more: it stays",
                       "   5 tests decode: decode 3 to 2",
                       "   6 less than the costs allow: tries more prefetch"});
}

}  // namespace
}  // namespace forebay
