#include "engine/run/watch/stall_watch.h"

#include <memory>
#include <string>
#include <vector>

#include "engine/run/watch/opening_watch.h"
#include "engine/run/watch/stream_watch.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;
using StallVerdict = StallWatch::Verdict;

StageStats stage(const std::string& name, std::uint64_t messages,
                 std::vector<PoolActorView> each = {}) {
  StageStats stats{.name = name, .pool = {}};
  stats.pool.totals.messages = messages;
  stats.pool.each = std::move(each);
  return stats;
}

struct Watched {
  std::shared_ptr<IoCounts> counts = std::make_shared<IoCounts>();
  std::vector<std::string> said;
  OpeningWatch watch{{.limits = {.warn_after = 20s, .fail_after = 60s},
                      .counts = counts,
                      .say = [this](const std::string& line) { said.push_back(line); }},
                     0s};
};

}  // namespace

TEST_CASE("a stall is warned about once, and then fails", "[tools][stall_watch]") {
  StallWatch watch({.warn_after = 30s, .fail_after = 100s}, 0s);
  CHECK(watch.look(1, 10s) == StallVerdict::kMoving);
  CHECK(watch.look(1, 39s) == StallVerdict::kMoving);
  CHECK(watch.look(1, 40s) == StallVerdict::kWarnNow);
  CHECK(watch.look(1, 41s) == StallVerdict::kStalled);
  CHECK(watch.stalled_for(41s) == 31s);
  CHECK(watch.look(1, 110s) == StallVerdict::kFailNow);
}

TEST_CASE("progress ends a stall, and the next stall is warned about again",
          "[tools][stall_watch]") {
  StallWatch watch({.warn_after = 30s, .fail_after = 100s}, 0s);
  CHECK(watch.look(0, 30s) == StallVerdict::kWarnNow);
  CHECK(watch.look(1, 99s) == StallVerdict::kMoving);
  CHECK(watch.look(1, 128s) == StallVerdict::kMoving);
  CHECK(watch.look(1, 129s) == StallVerdict::kWarnNow);
}

TEST_CASE("time in which nothing has to move is no stall", "[tools][stall_watch]") {
  StallWatch watch({.warn_after = 30s, .fail_after = 100s}, 0s);
  CHECK(watch.look(0, 30s) == StallVerdict::kWarnNow);
  watch.rest(99s);
  CHECK(watch.look(0, 128s) == StallVerdict::kMoving);
  CHECK(watch.look(0, 129s) == StallVerdict::kWarnNow);
  CHECK(watch.look(0, 199s) == StallVerdict::kFailNow);
}

TEST_CASE("a run fails without a warning if it has to fail before the warning",
          "[tools][stall_watch]") {
  StallWatch watch({.warn_after = 30s, .fail_after = 10s}, 0s);
  CHECK(watch.look(0, 9s) == StallVerdict::kMoving);
  CHECK(watch.look(0, 10s) == StallVerdict::kFailNow);
}

TEST_CASE("a stall names the actor at work on the lowest split", "[tools][stall_watch]") {
  PipelineStats stats;
  // Split 7 waits for space behind decode, so an earlier split holds it up: split 5.
  stats.stages = {stage("load", 9, {{1, ActorState::kIdle, 2s, 0}, {2, ActorState::kBusy, 3s, 8}}),
                  stage("decode", 7, {{1, ActorState::kWaitingOutput, 9s, 3}}),
                  stage("transform", 4, {{3, ActorState::kBusy, 10s, 5}})};
  CHECK(describe_stall(stats, true, 52s) ==
        "stage transform: actor transform-3 has worked on split 5 for 42 s, and everything behind "
        "it waits");
}

TEST_CASE("a stall without a busy actor is attributed to the trainer or the batcher",
          "[tools][stall_watch]") {
  PipelineStats stats;
  stats.stages = {stage("load", 9, {{1, ActorState::kIdle, 2s, 0}})};
  stats.lowest_missing = 4;
  stats.splits_issued = 6;
  CHECK(describe_stall(stats, true, 60s).starts_with("the trainer has worked on one batch"));
  CHECK(describe_stall(stats, false, 60s) ==
        "no actor has work: the batcher waits for split 4 of 6 issued");
}

TEST_CASE("progress grows with every split through a stage and every batch",
          "[tools][stall_watch]") {
  PipelineStats stats;
  stats.stages = {stage("load", 9), stage("decode", 7)};
  CHECK(progress_of(stats, 3) == 9 + 7 + 3);
}

TEST_CASE("an opening that reads on is not reported", "[tools][stall_watch]") {
  Watched opening;
  for (auto now = 0s; now < 300s; now += 15s) {
    opening.counts->add(0, 64 << 10);
    opening.watch.look(now);
  }
  CHECK(opening.said.empty());
  CHECK_FALSE(opening.watch.has_failed());
}

TEST_CASE("an opening without progress is reported once, and then has to stop",
          "[tools][stall_watch]") {
  Watched opening;
  opening.counts->add(3, 2048);
  for (auto now = 1s; now < 61s; now += 1s) {
    opening.counts->add(0, 1);  // which is as good as nothing
    opening.watch.look(now);
  }
  REQUIRE(opening.said.size() == 1);
  CHECK(
      opening.said[0].starts_with("no progress for 20 s while the dataset is opened: 3 requests "));
  CHECK_FALSE(opening.watch.has_failed());
  opening.watch.look(61s);
  CHECK(opening.watch.has_failed());
  CHECK(opening.watch.error().code == Code::kTimeout);
  CHECK(opening.watch.error().message.find("no progress for 60 s") == 0);
}

}  // namespace forebay
