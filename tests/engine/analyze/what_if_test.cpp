#include "engine/analyze/what_if.h"

#include <algorithm>

#include "engine/analyze/limiting_part.h"
#include "engine/analyze/workers.h"
#include "tests/engine/analyze/analyzed_run.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using Kind = WhatIf::Kind;

/// Four stages with one actor each; a split has 1000 rows. Times in milliseconds a split.
RateModel model_of(double load, double decode, double transform) {
  RateModel model;
  model.description.max_prefetch = 8;
  for (const char* name : {"load", "decode", "shuffle", "transform"}) {
    model.description.stages.push_back({.name = name, .max_actors = 64});
  }
  const double seconds[] = {load, decode, 0.01, transform};
  for (const double each : seconds) model.costs.push_back({.seconds = each * 1e-3});
  model.costs[0].cpu = 0;
  model.noise = {0, 0, 0, 0};
  model.actors = {1, 1, 1, 1};
  model.limits = {.cpus = 2, .memory_bytes = std::uint64_t{1} << 30};
  model.rows_per_split = 1000;
  return model;
}

JobSpec job_of(TrainerSpec::ModelKind trainer) {
  JobSpec job;
  job.trainer.model = trainer;
  job.pipeline.cpus = 2;
  job.pipeline.memory_bytes = std::uint64_t{1} << 30;
  job.order.batch_size = 1000;
  return job;
}

std::vector<WhatIf> what_ifs_of(const RateModel& model, const JobSpec& job,
                                const std::vector<Piece>& pieces = {}) {
  return what_ifs({.job = job,
                   .model = model,
                   .pieces = pieces,
                   .rows_per_second = rows_per_second(model),
                   .machine_cpus = 4});
}

const WhatIf* find(const std::vector<WhatIf>& list, Kind kind) {
  const auto found = std::ranges::find(list, kind, &WhatIf::kind);
  return found == list.end() ? nullptr : &*found;
}

constexpr auto kNone = TrainerSpec::ModelKind::kNone;
constexpr auto kEmulated = TrainerSpec::ModelKind::kEmulated;

TEST_CASE("the slowest of stages, machine and trainer is the rate", "[engine][analyze]") {
  CHECK(rows_per_second(model_of(5, 1, 2)) ==
        Approx(200'000).epsilon(0.005));    // load: 200 splits/s
  RateModel machine = model_of(0.1, 4, 4);  // 8.01 ms of CPU a split, on 2 CPUs
  machine.actors = {1, 8, 1, 8};
  CHECK(rows_per_second(machine) == Approx(2'000 / 8.01e-3).epsilon(0.05));
  RateModel trained = model_of(5, 1, 2);
  trained.trainer_seconds = 0.01;
  CHECK(rows_per_second(trained) == Approx(100'000));
  RateModel batched = model_of(5, 1, 2);
  batched.batch_seconds = 0.02;
  CHECK(rows_per_second(batched) == Approx(50'000));
}

TEST_CASE("a tuned job's stages get the actors that the plan finds", "[engine][analyze]") {
  RateModel model = model_of(5, 0.5, 1);
  model.tuned = true;  // load waits, so more actors of it bring up to 2 CPUs / 1.51 ms
  CHECK(rows_per_second(model) > 1'000'000);
  CHECK(planned_actors(model)[0] >= 6);
}

TEST_CASE("half the memory is written in whole MiB, as for --set", "[engine][analyze]") {
  JobSpec job = job_of(kNone);
  job.pipeline.memory_bytes = (std::uint64_t{513} << 20) + 12345;
  const auto list = what_ifs_of(model_of(1, 1, 1), job);
  REQUIRE(find(list, Kind::kHalfMemory) != nullptr);
  CHECK(find(list, Kind::kHalfMemory)->change == "pipeline.memory = 256MiB");
}

TEST_CASE("half and twice the CPUs are always looked at", "[engine][analyze]") {
  RateModel model = model_of(0.1, 4, 4);
  model.actors = {1, 8, 1, 8};
  const auto list = what_ifs_of(model, job_of(kNone));
  CHECK(list[0].change == "pipeline.cpus = 1");
  CHECK(list[0].rows_per_second == Approx(rows_per_second(model) / 2).epsilon(0.1));
  CHECK(list[1].change == "pipeline.cpus = 4");
  CHECK(list[1].rows_per_second == Approx(rows_per_second(model) * 2).epsilon(0.1));
  JobSpec one = job_of(kNone);
  one.pipeline.cpus = 1;
  CHECK(what_ifs_of(model, one)[0].change == "pipeline.cpus = 1");
}

TEST_CASE("a change is tried out where the machine can, and the job can run again",
          "[engine][analyze]") {
  const RateModel model = model_of(5, 1, 2);
  JobSpec job = job_of(kNone);
  const auto list = what_ifs_of(model, job);
  REQUIRE(list[0].trial);
  CHECK(list[0].trial->pipeline.cpus == 1);
  CHECK(list[0].trial->tuner.mode == "off");
  CHECK(list[1].trial);  // 4 of 4
  job.pipeline.cpus = 4;
  CHECK_FALSE(what_ifs_of(model, job)[1].trial);  // 8 of 4
}

/// A job that four milliseconds of each split are spent on, with so many workers of 100 splits/s.
RateModel model_with(double workers) {
  RateModel model = model_of(1, 4, 1);
  model.workers = workers;
  model.worker_splits = 100;
  return model;
}

JobSpec job_with_workers(const std::string& scale) {
  JobSpec job = job_of(kNone);
  job.cluster.listen = "tcp://127.0.0.1:0";
  job.cluster.scale = scale;
  return job;
}

std::vector<std::string> worker_changes(const std::vector<WhatIf>& list) {
  std::vector<std::string> changes;
  for (const WhatIf& each : list) {
    if (each.kind == Kind::kWorkers || each.kind == Kind::kFewerWorkers) {
      changes.push_back(each.change);
    }
  }
  return changes;
}

TEST_CASE("a job with workers is looked at with fewer and more of them", "[engine][analyze]") {
  using Changes = std::vector<std::string>;
  const JobSpec job = job_with_workers("");
  CHECK(worker_changes(what_ifs_of(model_with(1), job)) ==
        Changes{"no workers instead of 1", "2 workers instead of 1"});
  CHECK(worker_changes(what_ifs_of(model_with(3), job)) ==
        Changes{"2 workers instead of 3", "4 workers instead of 3", "6 workers instead of 3"});
  CHECK(worker_changes(what_ifs_of(model_with(0), job)) == Changes{"1 worker like this machine",
                                                                   "2 workers like this machine",
                                                                   "4 workers like this machine"});
}

TEST_CASE("what workers were seen to make is what one more would make", "[engine][analyze]") {
  // 250 splits/s of decode here, 100 of each worker.
  const auto list = what_ifs_of(model_with(2), job_with_workers(""));
  const WhatIf* more = find(list, Kind::kWorkers);
  CHECK(more->change == "3 workers instead of 2");
  CHECK(more->rows_per_second == Approx(550'000).epsilon(0.01));
  CHECK(find(list, Kind::kFewerWorkers)->rows_per_second == Approx(350'000).epsilon(0.01));
}

TEST_CASE("a node that makes no splits has only those of its workers", "[engine][analyze]") {
  RateModel model = model_with(2);
  model.makes_splits = false;
  CHECK(rows_per_second(model) == Approx(200'000));
  model.trainer_seconds = 0.01;
  CHECK(rows_per_second(model) == Approx(100'000));
  model.workers = 0;
  CHECK(rows_per_second(model) == 0);
}

TEST_CASE("a job with workers is tried out where it can start them again, or without any",
          "[engine][analyze]") {
  const auto started = what_ifs_of(model_with(2), job_with_workers("start.sh"));
  REQUIRE(started[0].trial);  // half the CPUs
  CHECK(started[0].trial->cluster.min_workers == 2);
  CHECK(started[0].trial->cluster.max_workers == 2);
  CHECK(find(started, Kind::kWorkers)->trial->cluster.min_workers == 3);
  const auto sets = [&](Kind kind) { return find(started, kind)->trial->source.sets; };
  CHECK(sets(Kind::kWorkers) ==
        std::vector<std::string>{"tuner.mode=off", "pipeline.allocation.load=1",
                                 "pipeline.allocation.decode=1", "pipeline.allocation.shuffle=1",
                                 "pipeline.allocation.transform=1"});
  CHECK(sets(Kind::kBatchSize).front() == "order.batch_size=2000");
  for (const WhatIf& each : what_ifs_of(model_with(2), job_with_workers(""))) {
    CHECK_FALSE(each.trial);
  }
  const auto alone = what_ifs_of(model_with(1), job_with_workers(""));
  REQUIRE(find(alone, Kind::kFewerWorkers)->trial);
  CHECK_FALSE(find(alone, Kind::kFewerWorkers)->trial->cluster.used());
  CHECK_FALSE(find(alone, Kind::kWorkers)->trial);
  // No more workers than the job allows, and none but them where this node makes no splits.
  JobSpec few = job_with_workers("start.sh");
  few.cluster.max_workers = 2;
  CHECK_FALSE(find(what_ifs_of(model_with(2), few), Kind::kWorkers)->trial);
  RateModel idle = model_with(1);
  idle.makes_splits = false;
  CHECK_FALSE(find(what_ifs_of(idle, few), Kind::kFewerWorkers)->trial);
}

TEST_CASE("a job without workers is tried out with those that fit on this machine",
          "[engine][analyze]") {
  const JobSpec job = job_of(kNone);
  const RateModel model = model_of(1, 4, 1);
  const auto list = what_ifs({.job = job,
                              .model = model,
                              .pieces = {},
                              .rows_per_second = 1,
                              .machine_cpus = 4,
                              .local_workers = [](std::uint32_t workers) {
                                return std::string(workers == 1 ? "start" : "");
                              }});
  const auto one = std::ranges::find(list, "1 worker like this machine", &WhatIf::change);
  REQUIRE(one->trial);
  CHECK(one->trial->cluster.scale == "start");
  CHECK(one->trial->cluster.min_workers == 1);
  CHECK(one->trial->cluster.address_file == local_workers_address(job));
  CHECK_FALSE(std::ranges::find(list, "2 workers like this machine", &WhatIf::change)->trial);
}

TEST_CASE("a faster disk halves what load waits, not its CPU time", "[engine][analyze]") {
  RateModel model = model_of(4, 1, 1);
  model.costs[0].cpu = 0.5;  // 2 ms of CPU, 2 of waiting
  const auto list = what_ifs_of(model, job_of(kNone));
  CHECK(find(list, Kind::kDisk)->rows_per_second == Approx(1'000'000 / 3.0).epsilon(0.05));
}

TEST_CASE("a batch twice as large halves an emulated trainer's work a row", "[engine][analyze]") {
  RateModel model = model_of(1, 1, 1);
  model.trainer_seconds = 0.02;
  const auto list = what_ifs_of(model, job_of(kEmulated));
  CHECK(find(list, Kind::kBatchSize)->change == "order.batch_size = 2000");
  CHECK(find(list, Kind::kBatchSize)->rows_per_second == Approx(100'000));
  CHECK(find(list, Kind::kTrainer)->rows_per_second == Approx(100'000));
  CHECK(find(what_ifs_of(model, job_of(kNone)), Kind::kTrainer) == nullptr);
}

TEST_CASE("an operator at half its cost takes that from its stage", "[engine][analyze]") {
  const std::vector<Piece> pieces = {
      {.name = "transform 1 (spin)",
       .part = Part::kTransform,
       .stage = "transform",
       .busy = 3,
       .cpu = 3},
      {.name = "transform", .part = Part::kTransform, .stage = "transform", .busy = 1, .cpu = 1}};
  const auto list = what_ifs_of(model_of(1, 1, 8), job_of(kNone), pieces);
  const WhatIf* half = find(list, Kind::kOperator);
  REQUIRE(half != nullptr);
  CHECK(half->change == "transform 1 (spin) at half its cost");
  CHECK(half->rows_per_second == Approx(200'000).epsilon(0.005));  // 2.5/4 of 8 ms a split
}

TEST_CASE("workers add what their CPUs make, until the trainer is the limit", "[engine][analyze]") {
  RateModel model = model_of(0.1, 4, 4);
  model.actors = {1, 8, 1, 8};
  const double alone = rows_per_second(model);
  model.workers = 1;
  model.received_cpu = kRemoteRowSeconds * model.rows_per_split;
  CHECK(rows_per_second(model) == Approx(2 * alone).epsilon(0.06));  // less 183 ns a row
  model.trainer_seconds = 1e-3 / (1.5 * alone / 1e6);
  CHECK(rows_per_second(model) == Approx(1.5 * alone));
}

TEST_CASE("other actors are proposed where the job's own are fixed and slower",
          "[engine][analyze]") {
  const RateModel slow = model_of(1, 0.1, 0.1);
  const auto list = what_ifs_of(slow, job_of(kNone));
  const WhatIf* better = find(list, Kind::kAllocation);
  REQUIRE(better != nullptr);
  CHECK(better->change.starts_with("pipeline.allocation.load = "));
  RateModel tuned = slow;
  tuned.tuned = true;
  CHECK(find(what_ifs_of(tuned, job_of(kNone)), Kind::kAllocation) == nullptr);
}

TEST_CASE("three things to do come in order of gain, savings before what brings nothing",
          "[engine][analyze]") {
  const std::vector<WhatIf> list = {
      {.kind = Kind::kHalfCpus, .change = "half", .rows_per_second = 99},
      {.kind = Kind::kHalfMemory, .change = "memory", .rows_per_second = 50},
      {.kind = Kind::kTwiceCpus, .change = "twice", .rows_per_second = 101},
      {.kind = Kind::kFewerWorkers, .change = "fewer", .rows_per_second = 60},
      {.kind = Kind::kWorkers, .change = "worker", .rows_per_second = 150},
      {.kind = Kind::kTrainer, .change = "trainer", .rows_per_second = 200}};
  const auto advice = advice_of(list, 100);
  REQUIRE(advice.size() == 3);
  CHECK(advice[0] == "trainer: 2.00 × the rows, 200 rows/s");
  CHECK(advice[1] == "worker: 1.50 × the rows, 150 rows/s");
  CHECK(advice[2] == "half is enough: 99 rows/s");
}

TEST_CASE("fewer workers are advised where they are enough", "[engine][analyze]") {
  const std::vector<WhatIf> list = {
      {.kind = Kind::kFewerWorkers, .change = "1 worker instead of 2", .rows_per_second = 99}};
  CHECK(advice_of(list, 100)[0] == "1 worker instead of 2 is enough: 99 rows/s");
}

}  // namespace
}  // namespace forebay
