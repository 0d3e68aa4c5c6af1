#include "engine/train/train_log.h"

#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

using namespace forebay;

namespace {

struct LogFixture {
  test::TempDir folder;
  JobSpec job;

  LogFixture() {
    job.trainer.csv = folder.path("run.csv");
    job.trainer.log_every = 4;
  }

  /// Steps `from` to `end`; the loss of each step is its number.
  static void train(TrainLog& log, std::uint64_t from, std::uint64_t end) {
    TrainProgress progress;
    for (std::uint64_t step = from; step <= end; ++step) {
      progress.position.batches = step;
      progress.loss = static_cast<double>(step);
      log.step(progress, std::nullopt, {});
    }
  }
  static Position after(std::uint64_t batches) {
    Position position;
    position.batches = batches;
    return position;
  }
  /// The last line's step and loss.
  std::string last_line() const {
    std::string text = folder.read("run.csv");
    text.pop_back();
    text.erase(0, text.rfind('\n') + 1);
    const std::size_t loss = text.find(',', text.find(',', text.find(',') + 1) + 1);
    return text.substr(0, text.find(',')) + ":" +
           text.substr(loss + 1, text.find(',', loss + 1) - loss - 1);
  }
};

}  // namespace

TEST_CASE_METHOD(LogFixture, "the first line after a resume averages earlier steps, too",
                 "[tools][train]") {
  auto first = TrainLog::open(job, {});
  REQUIRE(first);
  train(*first, 1, 6);
  CHECK(last_line() == "4:2.5");
  const std::string kept = first->kept();
  CHECK(kept == "2 11\n");

  auto second = TrainLog::open(job, after(6), kept);
  REQUIRE(second);
  train(*second, 7, 8);
  CHECK(last_line() == "8:6.5");  // The mean of 5, 6, 7 and 8.
  CHECK(second->kept() == "0 0\n");
}

TEST_CASE_METHOD(LogFixture, "without an earlier run's figures a line averages this run's steps",
                 "[tools][train]") {
  auto log = TrainLog::open(job, after(0), GENERATE("", "x", "3"));
  REQUIRE(log);
  train(*log, 3, 4);
  CHECK(last_line() == "4:3.5");
}

TEST_CASE_METHOD(LogFixture, "a run that logs nothing keeps nothing", "[tools][train]") {
  job.trainer.csv.clear();
  auto log = TrainLog::open(job, {});
  REQUIRE(log);
  train(*log, 1, 3);
  CHECK(log->kept().empty());
}
