#include "engine/metrics/verdict.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;
using Catch::Detail::Approx;

StageView stage(const std::string& name, double busy) {
  return {.name = name, .actors = 1, .busy_share = busy, .cpu_share = 1};
}

/// 8 CPUs of which 2 are busy; decode works all the time, the trainer waits for 60 % of it.
Activity starved() {
  return {.seconds = 10,
          .rows = 1000,
          .starved_ratio = 0.6,
          .cpus_busy = 2,
          .cpus = 8,
          .stages = {stage("load", 0.1), stage("decode", 1.0), stage("batch", 0.5)}};
}

bool says(const Verdict& verdict, const std::string& text) {
  return verdict.sentence.find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("a busy stage is the limit, and its end helps until the next one is",
          "[engine][verdict]") {
  const Verdict verdict = judge(starved());
  CHECK(verdict.limit == Limit::kStage);
  CHECK(says(verdict, "decode is the bottleneck: its 1 actor was busy 100 % of the time"));
  // The next limits: batch, 1 / 0.5 = 2; the trainer, 1 / (1 - 0.6) = 2.5; the CPUs, 8 / 2 = 4.
  CHECK(verdict.gain == Approx(2));
  Activity lazy = starved();
  lazy.stages[2].busy_share = 0.2;  // 1 / 0.2 = 5
  CHECK(judge(lazy).gain == Approx(2.5));
  lazy.cpus = 3;  // 3 / 2 = 1.5, and not yet full: 2 < 0.9 * 3
  CHECK(judge(lazy).gain == Approx(1.5));
}

TEST_CASE("CPUs that others take from ready actors are used up, too", "[engine][verdict]") {
  Activity crowded = starved();
  crowded.stages[1].actors = 8;
  crowded.stages[1].ready_share = 0.7;
  const Verdict verdict = judge(crowded);
  CHECK(verdict.limit == Limit::kCpus);
  CHECK(says(verdict, "2.0 of 8 were busy and other programs took 5.6, and decode took"));
  CHECK(verdict.stage == "decode");
}

TEST_CASE("where nobody trains only stages and CPUs bound what would be won", "[engine][verdict]") {
  Activity ingest = starved();
  ingest.trained = false;
  ingest.starved_ratio = 0;
  CHECK(judge(ingest).limit == Limit::kStage);
  CHECK(judge(ingest).gain == Approx(2));
}

TEST_CASE("a trainer that never waits is the limit, until the busiest stage is",
          "[engine][verdict]") {
  Activity fast = starved();
  fast.starved_ratio = 0.04;
  fast.stages[1].busy_share = 0.8;
  const Verdict verdict = judge(fast);
  CHECK(verdict.limit == Limit::kTrainer);
  CHECK(verdict.gain == Approx(1.25));  // 1 / 0.8
}

TEST_CASE("full CPUs are the limit before a stage", "[engine][verdict]") {
  Activity full = starved();
  full.cpus = 2;
  const Verdict verdict = judge(full);
  CHECK(verdict.limit == Limit::kCpus);
  CHECK(verdict.gain == Approx(2.5));  // until the trainer no longer waits: 1 / (1 - 0.6)
  full.trained = false;
  CHECK(judge(full).gain == 0);  // nothing tells
}

TEST_CASE("a load that hardly uses a CPU waits for its input, another stage for something else",
          "[engine][verdict]") {
  Activity slow = starved();
  slow.stages[1].cpu_share = 0.4;
  CHECK(judge(slow).limit == Limit::kStage);
  CHECK(says(judge(slow), "it hardly used a CPU, so it waited for something else"));
  std::swap(slow.stages[0].busy_share, slow.stages[1].busy_share);
  slow.stages[0].cpu_share = 0.4;
  CHECK(judge(slow).limit == Limit::kInput);
  CHECK(says(judge(slow), "it waited for the disk or the store"));
}

TEST_CASE("the actor that cuts batches is a limit of its own", "[engine][verdict]") {
  Activity cutting = starved();
  std::swap(cutting.stages[1].busy_share, cutting.stages[2].busy_share);
  CHECK(judge(cutting).limit == Limit::kBatch);
}

TEST_CASE("a full window while no stage is busy is a lack of memory", "[engine][verdict]") {
  Activity short_of = starved();
  for (StageView& each : short_of.stages) each.busy_share = 0.25;
  short_of.window_capacity = 100 << 20;
  short_of.window_wanted = 101 << 20;
  short_of.window_bytes = 90 << 20;
  const Verdict verdict = judge(short_of);
  CHECK(verdict.limit == Limit::kMemory);
  CHECK(says(verdict, "splits on their way fill the 100 MiB that they may take"));
  CHECK(verdict.gain == Approx(2.5));  // the trainer; stages: 4, CPUs: 4
  short_of.window_bytes = 89 << 20;
  CHECK(judge(short_of).limit == Limit::kUnknown);
}

TEST_CASE("a full window that is as large as the actors want it is no lack of memory",
          "[engine][verdict]") {
  Activity short_rows = starved();
  for (StageView& each : short_rows.stages) each.busy_share = 0.25;
  short_rows.window_bytes = short_rows.window_capacity = short_rows.window_wanted = 100 << 20;
  CHECK(judge(short_rows).limit == Limit::kUnknown);
}

TEST_CASE("workers that could make more are held up by the link or by the splits they may hold",
          "[engine][verdict]") {
  Activity remote = starved();
  remote.made_per_second = 10;
  remote.could_make_per_second = 20;
  remote.lease_capacity = 10;
  remote.leases = 9;
  const Verdict link = judge(remote);
  CHECK(link.limit == Limit::kLink);
  CHECK(says(link, "workers could make 20.0 splits/s and hand over 10.0"));
  CHECK(link.gain == Approx(2));  // 20 / 10, below the trainer's 2.5
  remote.leases = 8;              // below 0.9 * 10
  CHECK(judge(remote).limit == Limit::kMemory);
  remote.could_make_per_second = 12;  // below 1.25 * 10
  CHECK(judge(remote).limit == Limit::kStage);
}

TEST_CASE("without rows there is no verdict", "[engine][verdict]") {
  Activity none = starved();
  none.rows = 0;
  CHECK(judge(none).limit == Limit::kUnknown);
  CHECK(judge(none).gain == 0);
}

TEST_CASE("an activity is the difference of two moments, and counts remote workers only",
          "[engine][verdict]") {
  RunFigures before;
  before.command = "train";
  before.rows = 100;
  RunFigures now = before;
  now.elapsed = 10s;
  now.rows = 600;
  now.waited = 4s;
  now.cpu_seconds = 15;
  now.cluster.emplace();
  for (const char* name : {"local", "far", "new"}) {
    scheduler::NodeStatus node;
    node.name = name;
    node.rate = 3;
    node.leases = 5;
    if (node.name != "new") node.state = scheduler::NodeStatus::State::kPrepared;
    now.cluster->nodes.push_back(node);
  }
  const Activity activity = activity_between(before, now);
  CHECK(activity.rows == 500);
  CHECK(activity.starved_ratio == Approx(0.4));
  CHECK(activity.cpus_busy == Approx(1.5));
  CHECK(activity.made_per_second == 3);
  CHECK(activity.leases == 5);
  CHECK(activity.trained);
}

TEST_CASE("each limit has a name", "[engine][verdict]") {
  CHECK(name_of(Limit::kTrainer) == "trainer");
  CHECK(name_of(Limit::kLink) == "link");
}

}  // namespace forebay
