#include "tuner/emulated/virtual_machine.h"

#include <algorithm>
#include <deque>
#include <vector>

#include "tests/tuner/sim/models.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

/// A machine and the work of its actors.
class MachineFixture {
 public:
  explicit MachineFixture(const PipelineModel& model) : machine(model, 1) {}

  WorkItem& begin(std::size_t stage, double at, std::uint32_t actors = 1) {
    work.push_back({.stage = stage, .actors = actors, .begin = at});
    machine.begin(work.back());
    return work.back();
  }
  WorkItem& begin_on(std::size_t node, std::size_t stage, double at) {
    work.push_back({.stage = stage, .node = node, .begin = at});
    machine.begin(work.back());
    return work.back();
  }
  /// The number of services that ended by then.
  std::size_t pass(double until) {
    std::vector<WorkItem*> ended;
    machine.advance(until, ended);
    return ended.size();
  }

  VirtualMachine machine;
  std::deque<WorkItem> work;
};

PipelineModel one_stage(double seconds, double cpu = 1) {
  PipelineModel model = line_of({stage("load", seconds)});
  model.stages[0].cpu = cpu;
  return model;
}

TEST_CASE("work waits for its share off the CPU and then takes its CPU time", "[tuner][emulated]") {
  MachineFixture fixture(one_stage(0.5, 0.2));
  const WorkItem& work = fixture.begin(0, 1.0);
  fixture.pass(1.45);
  CHECK(fixture.machine.cpu_seconds(0) == Approx(0.05));  // From 1.4 on.
  CHECK(fixture.pass(1.6) == 1);
  CHECK(work.end == Approx(1.5));
  CHECK(work.cpu_seconds == Approx(0.1));
  CHECK(work.wait_seconds == Approx(0.4));
  CHECK(work.ready_seconds() == Approx(0.0).margin(1e-12));
}

TEST_CASE("work that shares a disk takes longer, and no more CPU time", "[tuner][emulated]") {
  PipelineModel model = one_stage(0.5, 0.2);
  model.resources = {{.name = "disk", .rate = 2}};
  model.stages[0].uses = {{"disk", 1}};  // One split asks for 2 a second.
  MachineFixture fixture(model);
  const WorkItem& first = fixture.begin(0, 0);
  fixture.begin(0, 0);
  CHECK(fixture.pass(0.99) == 0);
  CHECK(fixture.pass(1.01) == 2);
  CHECK(first.end == Approx(1));
  CHECK(first.cpu_seconds == Approx(0.1));
  CHECK(first.ready_seconds() == Approx(0).margin(1e-9));
  CHECK(fixture.machine.cpu_seconds(0) == Approx(0.2));
}

TEST_CASE("stalls on memory count as CPU time", "[tuner][emulated]") {
  PipelineModel model = one_stage(0.5);
  model.resources = {{.name = "dram", .rate = 2}};
  model.stages[0].uses = {{"dram", 1}};
  MachineFixture fixture(model);
  const WorkItem& first = fixture.begin(0, 0);
  fixture.begin(0, 0);
  CHECK(fixture.pass(1.01) == 2);
  CHECK(first.cpu_seconds == Approx(1));
  CHECK(first.wait_seconds == Approx(0).margin(1e-9));
}

TEST_CASE("work of a thread that woke late ends as if it had begun in time", "[tuner][emulated]") {
  PipelineModel model = one_stage(0.5);
  model.resources = {{.name = "disk", .rate = 2}};
  model.stages[0].uses = {{"disk", 1}};
  MachineFixture fixture(model);
  fixture.pass(10);
  const WorkItem& work = fixture.begin(0, 9.9);
  CHECK(fixture.pass(11) == 1);
  CHECK(work.end == Approx(10.4));  // 0.5 s after its begin: nobody else used the disk.
}

TEST_CASE("a step that would begin in a pause begins at its end", "[tuner][emulated]") {
  PipelineModel model = one_stage(0.5);
  model.trainer_step_seconds = 0.1;
  model.pause = PauseModel{.every = 10, .seconds = 2};
  MachineFixture fixture(model);
  CHECK(fixture.begin(1, 1).begin == 1);
  CHECK(fixture.begin(1, 9.95).begin == 9.95);
  CHECK(fixture.begin(1, 11).begin == 12);
  CHECK(fixture.begin(1, 20).begin == 22);
}

TEST_CASE("a ramp moves on while time passes", "[tuner][emulated]") {
  PipelineModel model = one_stage(0.5);
  model.events = {{.at_seconds = 2, .stage = 0, .seconds_factor = 3, .over_seconds = 4}};
  MachineFixture fixture(model);
  fixture.pass(4);
  CHECK(fixture.machine.model().stages[0].seconds == Approx(1).epsilon(0.04));
  fixture.pass(7);
  CHECK(fixture.machine.model().stages[0].seconds == Approx(1.5));
}

TEST_CASE("time spent ready for a CPU is counted apart from work and from waiting",
          "[tuner][emulated]") {
  PipelineModel model = one_stage(0.5, 0.2);
  model.cpus = 1;
  MachineFixture fixture(model);
  const WorkItem& first = fixture.begin(0, 0);
  fixture.begin(0, 0);
  CHECK(fixture.pass(2) == 2);
  CHECK(first.end == Approx(0.6));  // 0.4 s of waiting, 0.1 s of work at half a CPU.
  CHECK(first.ready_seconds() == Approx(0.1));
}

TEST_CASE("contention among the actors of a stage stretches their work", "[tuner][emulated]") {
  PipelineModel model = one_stage(0.1);
  model.stages[0].alpha = 0.05;
  model.stages[0].beta = 0.01;
  MachineFixture fixture(model);
  const WorkItem& work = fixture.begin(0, 0, 4);
  fixture.pass(1);
  CHECK(work.end == Approx(0.127));  // 1 + 0.05 × 3 + 0.01 × 4 × 3 = 1.27
}

TEST_CASE("starts are spaced, in turn, and nothing is saved up", "[tuner][emulated]") {
  PipelineModel model = one_stage(0.1);
  model.stages[0].max_rate = 4;
  MachineFixture fixture(model);
  const WorkItem& first = fixture.begin(0, 1.0);
  const WorkItem& second = fixture.begin(0, 1.0);
  const WorkItem& third = fixture.begin(0, 1.1);
  CHECK(fixture.pass(5) == 3);
  CHECK(first.end == Approx(1.1));
  CHECK(second.end == Approx(1.35));
  CHECK(third.end == Approx(1.6));  // Starts at 1.5.
  CHECK(third.wait_seconds == Approx(0.4));
  const WorkItem& later = fixture.begin(0, 5.0);
  fixture.pass(6);
  CHECK(later.end == Approx(5.1));
}

TEST_CASE("events change work that begins after them", "[tuner][emulated]") {
  PipelineModel model = one_stage(0.4);
  model.events = {{.at_seconds = 1.0, .stage = 0, .seconds_factor = 3.0},
                  {.at_seconds = 2.0, .stage = 0, .max_rate = 2.0},
                  {.at_seconds = 3.0, .cpus = 16.0, .trainer_step_seconds = 0.5}};
  for (ModelEvent& event : model.events) {
    if (event.at_seconds > 2) event.stage.reset();
  }
  MachineFixture fixture(model);
  fixture.pass(0.9);
  const WorkItem& before = fixture.begin(0, 0.9);
  fixture.pass(1.1);
  const WorkItem& after = fixture.begin(0, 1.1);
  fixture.pass(2.5);
  CHECK(before.end == Approx(1.3));  // It keeps its drawn time.
  CHECK(after.end == Approx(2.3));
  CHECK(fixture.machine.model().stages[0].max_rate == 2);
  CHECK(fixture.machine.model().cpus == 8);
  fixture.pass(3);
  CHECK(fixture.machine.model().cpus == 16);
  const WorkItem& step = fixture.begin(1, 3.0);  // The trainer's service.
  fixture.pass(4);
  CHECK(step.end == Approx(3.5));
}

TEST_CASE("work that began before the machine was notified of it still ends on time",
          "[tuner][emulated]") {
  MachineFixture fixture(one_stage(0.1));
  fixture.pass(1.02);
  const WorkItem& late = fixture.begin(0, 1.0);
  CHECK(fixture.pass(1.05) == 0);
  CHECK(fixture.pass(1.11) == 1);
  CHECK(late.end == Approx(1.1));
  CHECK(fixture.machine.cpu_seconds(0) == Approx(0.1));

  fixture.pass(2.5);
  const WorkItem& over = fixture.begin(0, 2.0);
  CHECK(fixture.pass(2.5) == 1);
  CHECK(over.end == Approx(2.1));
  CHECK(fixture.machine.cpu_seconds(0) == Approx(0.2));
}

TEST_CASE("work that began before work that was added earlier still ends on time",
          "[tuner][emulated]") {
  MachineFixture fixture(one_stage(0.1));
  fixture.pass(1.02);
  fixture.begin(0, 1.02);
  fixture.pass(1.02);
  const WorkItem& late = fixture.begin(0, 1.0);
  fixture.pass(2);
  CHECK(late.end == Approx(1.1));
}

TEST_CASE("CPU time that others used meanwhile is not made up for", "[tuner][emulated]") {
  PipelineModel model = one_stage(0.1);
  model.cpus = 1;
  MachineFixture fixture(model);
  fixture.begin(0, 0);
  fixture.pass(0.04);
  const WorkItem& late = fixture.begin(0, 0.02);
  fixture.pass(1);
  CHECK(late.end == Approx(0.2));  // 0.04 s before it, then 0.16 s of work for one CPU.
  CHECK(fixture.machine.cpu_seconds(0) == Approx(0.2));
}

TEST_CASE("noise has mean 1 and the spread that was asked for", "[tuner][emulated]") {
  PipelineModel model = one_stage(0.1);
  model.stages[0].noise = 0.5;
  model.cpus = 1e6;
  MachineFixture fixture(model);
  double sum = 0;
  double squares = 0;
  constexpr int kSplits = 20'000;
  for (int i = 0; i < kSplits; ++i) fixture.begin(0, 0);
  fixture.pass(1000);
  for (const WorkItem& work : fixture.work) {
    sum += work.seconds();
    squares += work.seconds() * work.seconds();
  }
  const double mean = sum / kSplits;
  CHECK(mean == Approx(0.1).epsilon(0.02));
  CHECK(squares / kSplits / mean / mean - 1 == Approx(0.25).epsilon(0.1));
}

/// Two nodes: n1 is the trainer's, n2 half as fast, with a link of 100 bytes a second.
PipelineModel two_nodes() {
  PipelineModel model = one_stage(0.5);
  model.stages[0].bytes_out = 50;
  model.nodes = {
      {.name = "n1", .cpus = 1, .memory_bytes = 1000, .trainer = true},
      {.name = "n2", .cpus = 1, .memory_bytes = 1000, .seconds_factor = 2, .link_rate = 100}};
  return model;
}

TEST_CASE("each node has its own speed and CPUs", "[tuner][emulated]") {
  MachineFixture fixture(two_nodes());
  REQUIRE(fixture.machine.lines() == 2);
  const WorkItem& fast = fixture.begin_on(0, 0, 0);
  const WorkItem& slow = fixture.begin_on(1, 0, 0);
  CHECK(fixture.pass(10) == 2);
  CHECK(fast.end == Approx(0.5));
  CHECK(slow.end == Approx(1));  // It does not share the other node's CPU.
  CHECK(fixture.machine.cpu_seconds(0) == Approx(0.5));
  CHECK(fixture.machine.cpu_seconds(1) == Approx(1));
}

TEST_CASE("a late begin is made up for where CPUs were free, not where others used them",
          "[tuner][emulated]") {
  PipelineModel model = two_nodes();
  model.nodes[0].cpus = 2;
  MachineFixture fixture(model);
  fixture.pass(0.1);
  const WorkItem& alone = fixture.begin_on(0, 0, 0.05);  // Called at 0.1.
  CHECK(fixture.pass(5) == 1);
  CHECK(alone.end == Approx(0.55));
  for (int i = 0; i < 2; ++i) fixture.begin_on(0, 0, 5);  // They use both CPUs.
  fixture.pass(5.1);
  const WorkItem& third = fixture.begin_on(0, 0, 5.05);
  CHECK(fixture.pass(20) == 3);
  // At 5.1 s the two have 0.4 s left, the third 0.5. At 2/3 of the speed they end at 5.7 s, and the
  // third does its last 0.1 s alone.
  CHECK(third.end == Approx(5.8));
}

TEST_CASE("splits on a link share its rate evenly", "[tuner][emulated]") {
  MachineFixture fixture(two_nodes());
  const WorkItem& first = fixture.begin_on(1, WorkItem::kLink, 0);
  fixture.pass(0.25);  // 25 of its 50 bytes have crossed.
  const WorkItem& second = fixture.begin_on(1, WorkItem::kLink, 0.25);
  CHECK(fixture.pass(10) == 2);
  CHECK(first.end == Approx(0.75));  // The other 25 at 50 bytes a second,
  CHECK(second.end == Approx(1));    // then 25 of the second at 100.
  CHECK(second.ready_seconds() == Approx(0).margin(1e-9));
}

TEST_CASE("the work of a lost node never ends, the work of the others does", "[tuner][emulated]") {
  MachineFixture fixture(two_nodes());
  fixture.begin_on(0, 0, 0);
  const WorkItem& lost = fixture.begin_on(1, 0, 0);
  const WorkItem& on_link = fixture.begin_on(1, WorkItem::kLink, 0);
  const WorkItem& starting = fixture.begin_on(1, WorkItem::kStartUp, 0);
  const WorkItem& trained = fixture.begin_on(1, fixture.machine.trainer(), 0);
  std::vector<WorkItem*> dropped;
  fixture.machine.drop(1, dropped);
  CHECK(dropped.size() == 3);
  for (const WorkItem* each : {&lost, &on_link, &starting}) {
    CHECK(std::ranges::find(dropped, each) != dropped.end());
  }
  CHECK(fixture.pass(10) == 2);
  CHECK(trained.end > 0);
  CHECK(lost.end == 0);
}

}  // namespace
}  // namespace forebay::tuner
