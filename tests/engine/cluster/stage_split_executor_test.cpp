#include "engine/cluster/stage_split_executor.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/runtime/synchronized.h"
#include "tests/engine/small_job.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait_until.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

/// The jobs that are open in this process: each publishes its inputs in a memory file.
std::size_t jobs_open() {
  const fs::directory_iterator descriptors("/proc/self/fd");
  return static_cast<std::size_t>(
      std::count_if(begin(descriptors), end(descriptors), [](const fs::directory_entry& entry) {
        std::error_code closed;
        return fs::read_symlink(entry.path(), closed).string().starts_with("/memfd:");
      }));
}

std::string text_of(const JobSpec& job) {
  auto run = JobRun::open(job, JobRun::Rows::kTraining, {});
  REQUIRE(run);
  const auto text = job_text_of(job, **run);
  REQUIRE(text);
  return encode_job_text(*text);
}

/// An executor on a node, and a small job that it may open.
class OpeningNode {
 public:
  void open(std::uint64_t opening) {
    executor.open({.id = "a", .text = text_, .fingerprint = ""}, opening);
  }
  void await_opened(std::uint64_t count) {
    test::wait_until([&] { return opened == count; });
  }

  std::atomic<std::uint64_t> opened{0};

 private:
  const test::SmallJob job_;
  const test::TempDir dir_;
  const std::string text_ = text_of(job_.spec);

 public:
  StageSplitExecutor executor{
      {.place = {.dir = dir_.path("w"), .name = "w", .memory_bytes = std::uint64_t{4} << 30},
       .on_stages = [this](NodeStages* stages, WorkerJob*) { opened += stages != nullptr; }}};
};

TEST_CASE("an executor keeps no job that has ended once it opens another", "[engine][cluster]") {
  OpeningNode node;
  const std::size_t before = jobs_open();
  for (std::uint64_t opening = 1; opening <= 4; ++opening) {
    node.open(opening);
    node.await_opened(opening);
    node.executor.begin(0);
    CHECK(jobs_open() == before + 1);
  }
}

TEST_CASE("an executor's job lives while it is used", "[engine][cluster]") {
  OpeningNode node;
  node.open(1);
  node.await_opened(1);
  node.executor.with_stages([&](NodeStages& stages, const WorkerJob& used) {
    node.open(2);
    // The thread that opens the next job waits for this use.
    static_cast<void>(Latch().wait_for(std::chrono::milliseconds(20)));
    CHECK(node.opened == 1);
    CHECK(stages.splits_per_epoch() > 0);
    CHECK(used.job().order.batch_size == 100);
  });
  node.await_opened(2);
}

/// The stages of a small job that has made a split.
class MadeSplit {
 public:
  explicit MadeSplit(const JobSpec& job) {
    auto opened = JobRun::open(job, JobRun::Rows::kTraining, {});
    REQUIRE(opened);
    run_ = std::move(*opened);
    stages.emplace(NodeStages::Options{.run = *run_,
                                       .room = std::uint64_t{1} << 30,
                                       .done =
                                           [this](std::uint64_t, Frames made) {
                                             frames = std::move(made);
                                             done_.open();
                                           },
                                       .failed = [](const Error&) {}});
    stages->make(0);
    done_.wait();
  }

  Frames frames;

 private:
  std::unique_ptr<JobRun> run_;
  Latch done_;

 public:
  std::optional<NodeStages> stages;
};

TEST_CASE("stages that have stopped keep only the memory of frames in use", "[engine][cluster]") {
  const test::SmallJob job;
  MadeSplit made(job.spec);
  made.stages->stop();
  test::wait_until([&] { return made.stages->is_idle(); });
  CHECK(made.stages->buffer_bytes() <= pool_bytes(bytes_of(made.frames)));
  CHECK(made.stages->buffer_bytes() > 0);
  made.frames.clear();
  CHECK(made.stages->buffer_bytes() == 0);
}

TEST_CASE("frames outlive the stages that made them", "[engine][cluster]") {
  const test::SmallJob job;
  MadeSplit made(job.spec);
  std::vector<std::byte> before(bytes_of(made.frames));
  const auto copy_to = [&made](std::byte* at) {
    for (const Frame& frame : made.frames) at = std::copy_n(frame.data(), frame.size(), at);
  };
  copy_to(before.data());
  made.stages.reset();
  std::vector<std::byte> after(before.size());
  copy_to(after.data());
  CHECK(before == after);
  made.frames.clear();
}

TEST_CASE("an executor may be stopped while the worker actor opens jobs", "[engine][cluster]") {
  for (int round = 0; round < 100; ++round) {
    StageSplitExecutor executor({.place = {}, .on_stages = [](NodeStages*, WorkerJob*) {}});
    std::thread worker([&executor] {
      for (std::uint64_t opening = 1; opening <= 5; ++opening) executor.open({}, opening);
    });
    executor.stop();
    worker.join();
    CHECK(executor.slots() == 0);
  }
}

}  // namespace
}  // namespace forebay
