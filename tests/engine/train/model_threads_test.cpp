#include "engine/train/model_threads.h"

#include "tests/support/manual_clock.h"
#include "tests/support/temp_dir.h"
#include "trainer/model.h"

#include "tests/support/catch.h"

using namespace forebay;
using std::chrono::milliseconds;

namespace {

/// Records the numbers of threads that it was set to.
class RecordingModel final : public Model {
 public:
  bool learns() const override { return true; }
  Result<double> step(const Batch& batch) override { return none_.step(batch); }
  Status predict(const Batch& batch, std::span<float> scores) override {
    return none_.predict(batch, scores);
  }
  void set_threads(int threads) override { recorded.push_back(threads); }
  Result<std::unique_ptr<StateSource>> snapshot() override { return none_.snapshot(); }
  Status restore(StateSource& from) override { return none_.restore(from); }

  std::vector<int> recorded;

 private:
  EmulatedModel none_{std::chrono::nanoseconds(0)};
};

struct ThreadsFixture {
  test::TempDir folder;
  JobSpec job;
  RecordingModel model;
  bool acts = true;
  std::vector<std::string> said;
  ThreadAdvice* central = nullptr;
  std::uint64_t rows = 0;
  milliseconds trained{0};

  ThreadsFixture() {
    job.run.dir = folder.path();
    job.pipeline.cpus = 2;
    job.trainer.threads = 1;
    job.trainer.deterministic = false;
  }

  ModelThreads made() {
    return {job,
            job.trainer.threads,
            ModelThreads::most(job, job.trainer.threads),
            model,
            {.acts = [this] { return acts; },
             .say = [this](const std::string& line) { said.push_back(line); },
             .central = central}};
  }

  /// Steps of 100 ms, so five to a window, with `rate` rows/s a thread.
  void train(ModelThreads& threads, int windows, std::uint64_t rate) {
    for (int step = 0; step < 5 * windows; ++step) {
      rows += rate * static_cast<std::uint64_t>(threads.threads()) / 10;
      trained += milliseconds(100);
      threads.after_step(rows, trained);
    }
  }
};

/// The same under a central tuner that decides every two seconds, for a model of up to four
/// threads.
struct CentralThreadsFixture : ThreadsFixture {
  test::ManualClock clock;
  ThreadAdvice advice{clock, std::chrono::seconds(2)};

  CentralThreadsFixture() {
    job.pipeline.cpus = 4;
    central = &advice;
  }
};

}  // namespace

TEST_CASE("a model begins with as many threads as the job has CPUs", "[tools][threads]") {
  JobSpec job;
  job.pipeline.cpus = 4;
  job.trainer.deterministic = GENERATE(true, false);  // The number of threads changes no bit.
  CHECK(ModelThreads::first(job, 8) == 4);
  job.pipeline.cpus = 1;
  CHECK(ModelThreads::first(job, 8) == 1);
}

TEST_CASE("threads by default are no more than the machine has CPUs, or a batch has shares",
          "[tools][threads]") {
  JobSpec job;
  job.pipeline.cpus = 64;
  CHECK(ModelThreads::first(job, 2) == 2);
  CHECK(ModelThreads::first(job, 128) == static_cast<int>(kModelShares));
}

TEST_CASE("trainers of one machine share its CPUs", "[tools][threads]") {
  JobSpec job;
  job.pipeline.cpus = 8;
  CHECK(ModelThreads::first(job, 8, 2) == 4);
  CHECK(ModelThreads::first(job, 8, 3) == 2);
  CHECK(ModelThreads::first(job, 2, 4) == 1);
  job.pipeline.cpus = 4;  // Each trainer is limited to four CPUs of its own.
  CHECK(ModelThreads::first(job, 8, 2) == 4);
}

TEST_CASE("a job file's threads are taken as they are", "[tools][threads]") {
  JobSpec job;
  job.pipeline.cpus = 4;
  job.trainer.threads = 40;
  CHECK(ModelThreads::first(job, 2, 2) == 40);
}

TEST_CASE("a model whose threads may change is made for all CPUs", "[tools][threads]") {
  JobSpec job;
  job.pipeline.cpus = 40;
  CHECK(ModelThreads::most(job, 3) == 3);
  job.trainer.deterministic = false;
  CHECK(ModelThreads::most(job, 3) == 40);
  CHECK(ModelThreads::most(job, 48) == 48);
}

TEST_CASE_METHOD(ThreadsFixture, "a model gets the threads that the job trains fastest with",
                 "[tools][threads]") {
  ModelThreads threads = made();
  CHECK(model.recorded == std::vector<int>{1});
  train(threads, 6, 1000);
  CHECK(model.recorded == std::vector<int>{1, 2});
  CHECK(folder.read("threads.jsonl").empty());
  train(threads, 6, 1000);
  CHECK(threads.threads() == 2);
  CHECK(said ==
        std::vector<std::string>{"trainer.threads 1 -> 2: 2,000 rows/s instead of 1,000 rows/s"});
  CHECK(folder.read("threads.jsonl") ==
        "{\"rows\":9000,\"before\":1,\"tried\":2,\"rows_per_second_before\":1000.0,"
        "\"rows_per_second_tried\":2000.0,\"kept\":true}\n");
}

TEST_CASE_METHOD(ThreadsFixture, "a deterministic job keeps the threads of its job file",
                 "[tools][threads]") {
  job.trainer.deterministic = true;
  ModelThreads threads = made();
  train(threads, 40, 1000);
  CHECK(model.recorded.empty());
  CHECK(threads.threads() == 1);
  auto refused = threads.check(2);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("trainer.deterministic") != std::string::npos);
}

TEST_CASE_METHOD(ThreadsFixture, "nothing is tried while the tuner does not act",
                 "[tools][threads]") {
  acts = false;
  ModelThreads threads = made();
  train(threads, 40, 1000);
  CHECK(threads.threads() == 1);
  acts = true;
  train(threads, 6, 1000);
  CHECK(threads.threads() == 2);
}

TEST_CASE_METHOD(ThreadsFixture, "threads set by the user stay", "[tools][threads]") {
  ModelThreads threads = made();
  CHECK_FALSE(threads.check(0));
  CHECK_FALSE(threads.check(3));
  REQUIRE(threads.check(2));
  CHECK(threads.threads() == 1);
  threads.fix(2);
  CHECK(threads.threads() == 2);
  train(threads, 100, 1000);
  CHECK(model.recorded == std::vector<int>{1, 2});
  CHECK(folder.read("threads.jsonl").empty());
}

TEST_CASE_METHOD(CentralThreadsFixture, "a model has the threads that the central tuner advises",
                 "[tools][threads]") {
  ModelThreads threads = made();
  train(threads, 20, 1000);
  CHECK(threads.threads() == 1);  // It tries nothing by itself.
  CHECK(advice.threads() == 1);
  CHECK(advice.most() == 4);
  advice.advise(3);
  advice.advise(3);
  train(threads, 1, 1000);
  CHECK(threads.threads() == 3);
  CHECK(advice.threads() == 3);
  advice.advise(9);  // More than the model was made for.
  train(threads, 1, 1000);
  CHECK(threads.threads() == 4);
  advice.advise(0);
  train(threads, 20, 1000);
  CHECK(model.recorded == std::vector<int>{1, 3, 4});
  CHECK(said.empty());
}

TEST_CASE_METHOD(CentralThreadsFixture,
                 "a model whose central tuner is silent searches from its number, and says so",
                 "[tools][threads]") {
  ModelThreads threads = made();
  advice.advise(2);
  train(threads, 3, 1000);
  clock.advance(std::chrono::milliseconds(10001));
  train(threads, 6, 1000);
  CHECK(threads.threads() == 2);
  CHECK(said == std::vector<std::string>{
                    "the central tuner is silent; the number of the model's threads is searched "
                    "for here"});
  train(threads, 1, 1000);  // Two windows to settle and four that count, from the first step on.
  CHECK(threads.threads() == 3);
  advice.advise(2);
  train(threads, 1, 1000);
  CHECK(threads.threads() == 2);
  train(threads, 20, 1000);
  CHECK(threads.threads() == 2);
  CHECK(said.size() == 1);
  clock.advance(std::chrono::milliseconds(10001));
  train(threads, 7, 1000);
  CHECK(threads.threads() == 3);
  CHECK(said.size() == 2);
  CHECK(said.back() == said.front());
}

TEST_CASE_METHOD(CentralThreadsFixture,
                 "advice is not taken while the tuner does not act, or on threads that a user set",
                 "[tools][threads]") {
  ModelThreads threads = made();
  acts = false;
  advice.advise(3);
  train(threads, 1, 1000);
  CHECK(threads.threads() == 1);
  CHECK(advice.most() == 0);
  clock.advance(std::chrono::milliseconds(10001));
  train(threads, 1, 1000);
  CHECK(said.empty());
  advice.advise(3);
  acts = true;
  train(threads, 1, 1000);
  CHECK(threads.threads() == 3);
  threads.fix(2);
  CHECK(advice.threads() == 2);
  CHECK(advice.most() == 0);
  train(threads, 1, 1000);
  CHECK(threads.threads() == 2);
}
