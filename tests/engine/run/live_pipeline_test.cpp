#include "engine/run/live_pipeline.h"

#include <random>
#include <string>
#include <vector>

#include "engine/job/job_file.h"
#include "tests/engine/small_job.h"
#include "tests/support/temp_dir.h"
#include "tuner/guard.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

/// 3000 rows of Criteo in a job with small batches, started.
class Started {
 public:
  explicit Started(std::uint64_t memory = 256 * kMiB, FuseSpec::How fuse = FuseSpec::How::kNever) {
    dir_.write("day_0.tsv", test::criteo_rows(3000));
    const std::string path =
        dir_.write("job.toml",
                   "[dataset]\npaths = [\"*.tsv\"]\n[order]\nbatch_size = 100\nepochs = 3\n"
                   "[[transform]]\nop = \"spin\"\nmicroseconds = 1\n");
    auto loaded = load_job(path, {}, {.cpus = 2, .memory_bytes = memory});
    REQUIRE(loaded);
    job = std::move(*loaded);
    job.pipeline.fuse.how = fuse;
    auto opened = JobRun::open(job, JobRun::Rows::kTraining, {});
    REQUIRE(opened);
    run = std::move(*opened);
    REQUIRE(run->start(10 * kMiB, ~std::uint64_t{0}));
    tuned_pipeline = std::make_unique<LivePipeline>(*run, job, cpus, [this] { return machine; });
  }

  std::string pull(std::size_t batches = ~std::size_t{0}) const {
    while (batches-- > 0) {
      auto batch = run->source().next();
      REQUIRE(batch);
      if (*batch == nullptr) break;
    }
    return run->source().position().digest.hex();
  }

 private:
  test::TempDir dir_;

 public:
  JobSpec job;
  CpuLimit cpus;
  MachineLimits machine{.cpus = 8};  ///< What the machine grants.
  std::unique_ptr<JobRun> run;
  std::unique_ptr<LivePipeline> tuned_pipeline;
};

}  // namespace

TEST_CASE("a live pipeline's description has the stages and sizes that the job declares",
          "[tools][live_plant]") {
  const Started started;
  const tuner::PipelineDescription& description = started.tuned_pipeline->description();
  const MemorySizes& sizes = started.run->pipeline().sizes();
  REQUIRE(description.stages.size() == 4);
  CHECK(description.stages[3].name == "transform");
  CHECK(description.stages[3].bytes_per_actor == sizes.usual_split + kThreadBytes);
  CHECK(description.max_actors == 8);  // 2 * 2 CPUs + 4 stages
  CHECK(description.prefetch_item_bytes == sizes.batch);
  // The most memory of one actor a stage fits the memory that a pipeline gets for its actors.
  const std::uint64_t worst =
      tuner::worst_case_bytes(description, {.actors = {1, 1, 1, 1}, .prefetch = 1});
  CHECK(worst == 10 * kMiB + kMemorySlack + 6 * kThreadBytes + window_for(4, 4, sizes) +
                     sizes.cutting + 2 * sizes.batch);
}

TEST_CASE("a live pipeline's group is one stage to its tuner", "[tools][live_plant]") {
  const Started started(256 * kMiB, FuseSpec::How::kAuto);
  LivePipeline& tuned_pipeline = *started.tuned_pipeline;
  REQUIRE(tuned_pipeline.description().stages.size() == 1);
  CHECK(tuned_pipeline.description().stages[0].name == "load+decode+shuffle+transform");
  CHECK(tuned_pipeline.current().actors == std::vector<std::uint32_t>{2});
  tuned_pipeline.apply({.actors = {3}, .prefetch = 5});
  CHECK(tuned_pipeline.current().actors == std::vector<std::uint32_t>{3});
  CHECK(started.run->pipeline().stages().actors() == std::vector<std::uint32_t>{3, 3, 3, 3});
  started.pull(40);
  const tuner::Observation seen = tuned_pipeline.observe();
  REQUIRE(seen.stages.size() == 1);
  CHECK(seen.stages[0].actors == 3);
  CHECK(seen.stages[0].done > 0);
  CHECK(seen.stages[0].done_cpu_seconds > 0);
}

TEST_CASE("an applied allocation is current and is observed", "[tools][live_plant]") {
  const Started started;
  LivePipeline& tuned_pipeline = *started.tuned_pipeline;
  tuned_pipeline.apply({.actors = {1, 2, 1, 3}, .prefetch = 5});
  const tuner::CurrentState now = tuned_pipeline.current();
  CHECK(now.actors == std::vector<std::uint32_t>{1, 2, 1, 3});
  CHECK(now.prefetch == 5);
  CHECK(now.limits.memory_bytes == 256 * kMiB);
  started.pull(40);
  const tuner::Observation seen = tuned_pipeline.observe();
  CHECK(seen.stages[1].actors == 2);
  CHECK(seen.trainer_steps == 39);  // the fortieth step is not finished
  CHECK(seen.splits_per_item > 0);
  CHECK(seen.stages[3].done > 0);
  CHECK(seen.stages[3].done_cpu_seconds > 0);  // the operator spins
  CHECK(seen.stages[3].done_cpu_seconds <= seen.stages[3].done_seconds);
  CHECK(tuned_pipeline.observe().trainer_steps == 0);
}

TEST_CASE("a job with random allocations under the guard gives the same batches within its memory",
          "[tools][live_plant]") {
  const Started quiet;
  const std::string usual = quiet.pull();
  const Started started;
  LivePipeline& tuned_pipeline = *started.tuned_pipeline;
  tuner::Guard guard(tuned_pipeline.description());
  constexpr std::uint64_t kSeed = 5;
  std::mt19937_64 random(kSeed);
  std::string digest;
  for (int round = 0; round < 90; ++round) {
    tuner::Allocation wild{.actors = {}, .prefetch = static_cast<std::uint32_t>(random() % 100)};
    for (int i = 0; i < 4; ++i) {
      wild.actors.push_back(static_cast<std::uint32_t>(random() % 50));
    }
    if (round % 7 == 0) REQUIRE(tuned_pipeline.set_memory((60 + random() % 100) * kMiB));
    guard.admit(wild, tuned_pipeline.current());
    tuned_pipeline.apply(guard.step(tuned_pipeline.current()));
    digest = started.pull(1);
    const tuner::CurrentState now = tuned_pipeline.current();
    std::uint32_t alive = 0;
    for (std::size_t i = 0; i < 4; ++i) alive += now.actors[i] + now.leaving[i];
    REQUIRE(alive <= 8);
  }
  CHECK(digest == usual);
  CHECK(started.pull() == usual);
}

TEST_CASE("too little memory is refused with the bytes needed", "[tools][live_plant]") {
  const Started started;
  const auto refused = started.tuned_pipeline->set_memory(20 * kMiB);
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().message, Catch::Contains("pipeline.memory: this job needs at least"));
  CHECK(started.tuned_pipeline->limits().memory_bytes == 256 * kMiB);
}

TEST_CASE("the pipeline gives way to batches that its consumer keeps", "[tools][live_plant]") {
  const Started started;
  LivePipeline& tuned = *started.tuned_pipeline;
  const auto prefetch = [&] { return started.run->pipeline().stats().prefetch_budget; };
  tuned.apply({.actors = {1, 1, 1, 1}, .prefetch = 1'000'000});
  const std::uint64_t before = prefetch();
  REQUIRE(before > 100 * kMiB);
  CHECK(tuned.set_held(100 * kMiB));
  CHECK(prefetch() < before - 90 * kMiB);
  CHECK_FALSE(tuned.set_held(256 * kMiB));
  CHECK(prefetch() < before - 90 * kMiB);
  CHECK(tuned.set_held(0));
  CHECK(prefetch() == before);
}

TEST_CASE("queries of a live pipeline change nothing, its tick gives way to the process's memory",
          "[tools][live_plant]") {
  const Started started;
  LivePipeline& tuned = *started.tuned_pipeline;
  const auto prefetch = [&] { return started.run->pipeline().stats().prefetch_budget; };
  tuned.apply({.actors = {1, 1, 1, 1}, .prefetch = 1'000'000});
  const std::uint64_t before = prefetch();
  const std::vector<char> beside_the_account(64 * kMiB, 1);
  const tuner::CurrentState untouched = tuned.current();
  CHECK(untouched.resident_bytes == untouched.memory_bytes);
  CHECK(tuned.observe().memory_bytes > 0);
  CHECK(prefetch() == before);
  tuned.tick();
  const tuner::CurrentState now = tuned.current();
  const std::uint64_t beyond = now.resident_bytes - now.memory_bytes;
  CHECK(beyond >= beside_the_account.size() / 2);
  CHECK(prefetch() + beyond == before);
}

TEST_CASE("a pause of the trainer is neither work nor waiting", "[tools][live_plant]") {
  const Started started;
  started.pull(1);
  {
    const MeteredSource::Pause pause(started.run->source());
    const auto begin = started.run->clock().now();
    while (started.run->clock().now() - begin < std::chrono::milliseconds(60)) {
    }
  }
  started.pull(1);
  const tuner::Observation seen = started.tuned_pipeline->observe();
  CHECK(seen.trainer_steps == 1);
  CHECK(seen.trainer_step_seconds < 0.05);
  CHECK(started.run->source().paused() >= std::chrono::milliseconds(60));
}

TEST_CASE("limits that others change while a job runs are obeyed, and said once",
          "[tools][live_plant]") {
  Started started;
  LivePipeline& tuned = *started.tuned_pipeline;
  const auto second = [&tuned] {
    for (int i = 0; i < 10; ++i) tuned.tick();
  };
  std::vector<std::string> said;
  tuned.report_to([&said](const std::string& text) { said.push_back(text); });
  const double cpus = tuned.limits().cpus;
  tuned.apply({.actors = {1, 1, 1, 1}, .prefetch = 1'000'000});
  second();
  CHECK(said.empty());
  const std::uint64_t before = started.run->pipeline().stats().prefetch_budget;
  started.machine = {.cpus = 1, .memory_bytes = 128 * kMiB};
  second();
  second();
  CHECK(tuned.limits().cpus == 1);
  CHECK(tuned.observe().limits.memory_bytes == 128 * kMiB);
  CHECK(started.run->pipeline().stats().prefetch_budget < before - 100 * kMiB);
  REQUIRE(said.size() == 1);
  CHECK_THAT(said[0], Catch::Contains("its memory limit is 128 MiB now, not 256 MiB"));
  // What is given back is used again, up to what the job asked for.
  started.machine = {.cpus = 8};
  second();
  CHECK(tuned.limits().cpus == cpus);
  CHECK(tuned.limits().memory_bytes == 256 * kMiB);
  CHECK(said.size() == 2);
}

TEST_CASE("the words for changed limits name the old and the new", "[tools][live_plant]") {
  const tuner::Limits before{.cpus = 4, .memory_bytes = 256 * kMiB};
  const tuner::Limits after{.cpus = 1, .memory_bytes = 256 * kMiB};
  CHECK(changed_limits(before, before).empty());
  CHECK(changed_limits(before, after) ==
        "this process may use 1 of the 4 CPUs that it had (its affinity or cgroup was changed)");
  CHECK(changed_limits(after, before) == "this process may use 4 CPUs again, after 1");
}

}  // namespace forebay
