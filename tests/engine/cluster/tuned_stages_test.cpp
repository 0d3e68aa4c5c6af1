#include "engine/run/tuned_stages.h"

#include <atomic>
#include <optional>
#include <utility>
#include <vector>

#include "actors/stage/split_frames.h"
#include "core/base/sanitizers.h"
#include "core/runtime/synchronized.h"
#include "engine/cluster/worker_pipeline.h"
#include "engine/job/job_file.h"
#include "engine/run/live_pipeline.h"
#include "tests/engine/small_job.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait_until.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::uint64_t kResident = 10 * kMiB;

/// A job of five stages, the last of them named by the job, opened but not started.
class Opened {
 public:
  explicit Opened(FuseSpec::How fuse = FuseSpec::How::kNever) {
    dir_.write("day_0.tsv", test::criteo_rows(3000));
    const std::string path =
        dir_.write("job.toml",
                   "[dataset]\npaths = [\"*.tsv\"]\n[order]\nbatch_size = 100\n"
                   "[[transform]]\nop = \"log1p\"\ncolumns = [\"I*\"]\n"
                   "[[transform]]\nop = \"spin\"\nmicroseconds = 1\nstage = \"embed\"\n");
    auto loaded = load_job(path, {}, {.cpus = 2, .memory_bytes = 256 * kMiB});
    REQUIRE(loaded);
    job = std::move(*loaded);
    job.pipeline.fuse.how = fuse;
    auto opened = JobRun::open(job, JobRun::Rows::kTraining, {});
    REQUIRE(opened);
    run = std::move(*opened);
  }

 private:
  test::TempDir dir_;

 public:
  JobSpec job;
  std::unique_ptr<JobRun> run;
};

/// The stages of a trainer, with memory for so many actors more than one a stage.
class TrainersStages {
 public:
  explicit TrainersStages(std::uint64_t more) {
    job_.job.pipeline.memory_bytes =
        kResident + kMemorySlack + least_room(job_.job.stages.size() + more, job_.run->sizes());
    REQUIRE(job_.run->start(kResident, ~std::uint64_t{0}));
    tuned_.emplace(*job_.run, job_.job, cpus_);
  }
  StagePools& stages() { return job_.run->pipeline().stages(); }
  TunedStages& tuned() { return *tuned_; }

 private:
  Opened job_;
  CpuLimit cpus_;
  std::optional<LivePipeline> tuned_;
};

/// The stages of a worker, with as much memory.
class WorkersStages {
 public:
  explicit WorkersStages(std::uint64_t more, FuseSpec::How fuse = FuseSpec::How::kNever)
      : job_(fuse),
        stages_({.run = *job_.run,
                 .room = NodeStages::least_room_of(*job_.run) + more * kThreadBytes,
                 .done = [](std::uint64_t, const Frames&) {},
                 .failed = [](const Error&) {}}),
        tuned_({.stages = stages_,
                .job = job_.job,
                .limits = {.cpus = 2, .memory_bytes = 256 * kMiB},
                .resident_before = kResident,
                .rows_per_split = 100,
                .clock = clock_}) {}
  StagePools& stages() { return stages_.stages(); }
  TunedStages& tuned() { return tuned_; }

 private:
  Opened job_;
  SystemClock clock_;
  NodeStages stages_;
  WorkerPipeline tuned_;
};

using Counts = std::vector<std::uint32_t>;

}  // namespace

TEMPLATE_TEST_CASE("a stage grows while its node has memory for the threads",
                   "[engine][tuned_stages]", TrainersStages, WorkersStages) {
  TestType node(3);
  StagePools& stages = node.stages();
  CHECK(stages.resize(0, 0).error().code == Code::kInvalid);
  REQUIRE(stages.resize(1, 4));
  const auto refused = stages.resize(4, 2);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Code::kOverloaded);
  CHECK(stages.actors() == Counts{1, 4, 1, 1, 1});
  CHECK(stages.actors_wanted() == 8);
  REQUIRE(stages.resize(1, 2));
  // An actor that is leaving keeps its thread's memory until it has ended.
  while (stages.threads() > 6) {
  }
  REQUIRE(stages.resize(4, 3));
  CHECK(stages.actors() == Counts{1, 2, 1, 1, 3});
}

TEMPLATE_TEST_CASE("a tuned node has the job's stages, and what is applied is current",
                   "[engine][tuned_stages]", TrainersStages, WorkersStages) {
  TestType node(4);
  TunedStages& tuned = node.tuned();
  const auto& stages = tuned.description().stages;
  REQUIRE(stages.size() == 5);
  CHECK(stages[3].name == "transform");
  CHECK(stages[4].name == "embed");
  CHECK(tuned.description().max_actors == 9);  // 2 * 2 CPUs + 5 stages
  CHECK(tuned.current().actors == Counts{1, 1, 1, 1, 1});
  tuned.apply({.actors = {1, 1, 1, 1, 4}, .prefetch = 3});
  CHECK(tuned.current().actors == Counts{1, 1, 1, 1, 4});
  CHECK(tuned.current().prefetch == 3);
  tuned.apply({.actors = {1, 2, 1, 1, 1}, .prefetch = 3});
  CHECK(tuned.current().actors[4] == 1);
  tuned.tick();
  const tuner::Observation seen = tuned.observe();
  REQUIRE(seen.stages.size() == 5);
  CHECK(seen.stages[4].actors == 1);
  // The pipeline runs meanwhile: its account may move between two looks.
  CHECK(seen.memory_bytes > kResident);
  CHECK(seen.memory_peak >= seen.memory_bytes);
}

TEST_CASE("a worker fuses the stages that its trainer fuses", "[engine][tuned_stages]") {
  WorkersStages node(8, FuseSpec::How::kAuto);
  const auto& stages = node.tuned().description().stages;
  REQUIRE(stages.size() == 2);
  CHECK(stages[0].name == "load+decode+shuffle+transform");
  CHECK(stages[1].name == "embed");
  // A group has as many actors as stages, but at most as many as CPUs.
  CHECK(node.tuned().current().actors == Counts{2, 1});
  CHECK(node.stages().actors() == Counts{2, 2, 2, 2, 1});
  CHECK(node.stages().actors_wanted() == 3);
  node.tuned().apply({.actors = {3, 2}, .prefetch = 2});
  CHECK(node.stages().actors() == Counts{3, 3, 3, 3, 2});
}

TEST_CASE(
    "a tuner that moves the cuts sees all stages, of which those that are joined have no actors",
    "[engine][tuned_stages]") {
  Opened job(FuseSpec::How::kAuto);
  job.job.pipeline.memory_bytes =
      kResident + kMemorySlack + least_room(job.job.stages.size() + 8, job.run->sizes());
  REQUIRE(job.run->start(kResident, ~std::uint64_t{0}));
  CpuLimit cpus;
  LivePipeline tuned(*job.run, job.job, cpus, machine_limits, Cuts::kOfTuner);
  Counts least;
  for (const auto& stage : tuned.description().stages) least.push_back(stage.least_actors);
  CHECK(least == Counts{1, 0, 0, 0, 1});  // The job named the last one.
  CHECK(tuned.current().actors == Counts{2, 0, 0, 0, 1});
  const StagePools& stages = job.run->pipeline().stages();
  tuned.apply({.actors = {1, 0, 2, 0, 1}, .prefetch = 3});
  CHECK(tuned.current().actors == Counts{1, 0, 2, 0, 1});
  CHECK(stages.actors() == Counts{1, 1, 2, 2, 1});
  tuned.tick();
  const tuner::Observation seen = tuned.observe();
  REQUIRE(seen.stages.size() == 5);
  CHECK(seen.allocation().actors == Counts{1, 0, 2, 0, 1});
  if (FOREBAY_ADDRESS_SANITIZER) return;  // Its own memory leaves no room for more actors.
  tuned.apply({.actors = {3, 0, 0, 0, 1}, .prefetch = 3});
  CHECK(stages.actors() == Counts{3, 3, 3, 3, 1});
}

TEST_CASE("to a worker without splits its split client counts as busy", "[engine][tuned_stages]") {
  WorkersStages node(1);
  node.tuned().tick();
  node.tuned().tick();
  const tuner::Observation seen = node.tuned().observe();
  CHECK(seen.prefetch_fill == 1);
  CHECK(seen.trainer_step_seconds == seen.seconds);
  CHECK(seen.trainer_wait_seconds == 0);
  CHECK(seen.trainer_steps == 0);
}

namespace {

/// A trainer whose own stages make every third split, and a worker in the same process that makes
/// the others.
class TwoNodes final : SplitDispatch {
 public:
  TwoNodes() {
    stages_.emplace(NodeStages::Options{
        .run = *worker_.run,
        .room = 128 * kMiB,
        .done = [this](std::uint64_t number, const Frames& frames) { arrived(number, frames); },
        .failed = [this](const Error&) { ++failures_; }});
    REQUIRE(trainer_.run->start(kResident, ~std::uint64_t{0}, {.dispatch = this}));
    tuned_.emplace(*trainer_.run, trainer_.job, cpus_);
    serial_([this] {
      begun_ = true;
      for (const std::uint64_t number : early_) make(number);
    });
  }
  ~TwoNodes() override {
    trainer_.run->pipeline().stop();
    stages_.reset();
  }

  std::uint64_t made_there() const { return made_there_; }

  /// Takes all batches; returns the splits that were made.
  std::uint64_t pull() {
    while (true) {
      tuned_->tick();
      auto batch = trainer_.run->source().next();
      REQUIRE(batch);
      if (*batch == nullptr) break;
    }
    CHECK(failures_ == 0);
    // An actor counts its last split after it has handed it on.
    test::wait_until([this] {
      const PipelineStats stats = trainer_.run->pipeline().stats();
      return stats.stages[stats.stages.size() - 2].pool.totals.messages == made_here_;
    });
    return trainer_.run->pipeline().splits_per_epoch();
  }
  LivePipeline& tuned() { return *tuned_; }
  std::uint64_t made_here() const { return made_here_; }

 private:
  void issued(std::uint64_t number) override {
    serial_([&] { begun_ ? make(number) : early_.push_back(number); });
  }
  void make(std::uint64_t number) {
    if (number % 3 == 0) {
      trainer_.run->pipeline().make(number);
    } else {
      // A lease that ended and came again does not make its split twice.
      for (int i = 0; i < 2; ++i) stages_->make(number);
    }
  }
  void made_here(std::uint64_t, std::uint64_t) override { ++made_here_; }
  void arrived(std::uint64_t number, const Frames& frames) {
    ++made_there_;
    Pipeline& pipeline = trainer_.run->pipeline();
    const std::uint64_t most = pipeline.sizes().largest_split;
    const Schema& schema = trainer_.run->schema();
    auto parts = unpack_split(frames,
                              {.columns = {.max_rows = most,
                                           .dense = schema.dense.size(),
                                           .sparse = schema.sparse.size(),
                                           .max_bytes = most,
                                           .weights = schema.weight,
                                           .extras = schema.extra.size(),
                                           .repeated = schema.repeated},
                               .files = trainer_.run->dataset().files().size(),
                               .stages = trainer_.run->plan().stages().size(),
                               .parts = pipeline.parts_of(number)},
                              trainer_.run->buffers());
    if (!parts || !pipeline.accept(std::move(*parts))) ++failures_;
  }

  Opened worker_;
  Opened trainer_;
  CpuLimit cpus_;
  std::atomic<std::uint64_t> made_here_{0};
  std::atomic<std::uint64_t> made_there_{0};
  std::atomic<int> failures_{0};
  const Synchronized<> serial_{};     // guards the two below
  std::vector<std::uint64_t> early_;  // issued before the pipeline could be reached
  bool begun_ = false;
  std::optional<NodeStages> stages_;
  std::optional<LivePipeline> tuned_;
};

}  // namespace

TEST_CASE("beside workers the trainer's tuner sees the rate of its own stages alone",
          "[engine][tuned_stages]") {
  TwoNodes nodes;
  const std::uint64_t all = nodes.pull();
  const tuner::Observation seen = nodes.tuned().observe();
  REQUIRE(all >= 6);
  CHECK(nodes.made_here() == (all + 2) / 3);
  CHECK(nodes.made_there() == all - nodes.made_here());
  CHECK(seen.trainer_steps == nodes.made_here());
  CHECK(seen.splits_per_second() * seen.seconds == Approx(static_cast<double>(nodes.made_here())));
  CHECK(seen.trainer_step_seconds + seen.trainer_wait_seconds == Approx(seen.seconds));
}

TEST_CASE("a node that its client never leaves idle keeps a rate of its own",
          "[engine][tuned_stages]") {
  tuner::Observation seen{.seconds = 2};
  observe_client(seen, 30, 0);
  CHECK(seen.splits_per_second() == 15);
  CHECK(seen.trainer_step_seconds == Approx(0.1));  // of no time the model would make no splits
  CHECK(seen.trainer_wait_seconds == Approx(1.9));
  observe_client(seen, 30, 0.5);
  CHECK(seen.trainer_step_seconds == Approx(1));
  observe_client(seen, 30, 7);
  CHECK(seen.trainer_wait_seconds == 0);
}

}  // namespace forebay
