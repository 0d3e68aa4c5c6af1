#include "engine/train/train_log.h"

#include <sys/resource.h>

#include <csignal>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

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

/// While it lives, no file of this process gets larger than a log's header: its disk seems full.
class FullDisk {
 public:
  FullDisk() {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit full = before_;
    full.rlim_cur = CsvFile::kHeader.size();
    ::setrlimit(RLIMIT_FSIZE, &full);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  void (*handler_)(int) = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before_{};
};

}  // namespace

TEST_CASE_METHOD(LogFixture, "the first line after a resume averages earlier steps, too",
                 "[tools][train]") {
  auto first = TrainLog::open(job, {});
  REQUIRE(first);
  train(*first, 1, 6);
  first->flush();
  CHECK(last_line() == "4:2.5");
  const std::string kept = first->kept();
  CHECK(kept == "2 11\n");

  auto second = TrainLog::open(job, after(6), {}, kept);
  REQUIRE(second);
  train(*second, 7, 8);
  CHECK(second->kept() == "0 0\n");
  CHECK(last_line() == "8:6.5");  // The mean of 5, 6, 7 and 8.
}

TEST_CASE_METHOD(LogFixture, "without an earlier run's figures a line averages this run's steps",
                 "[tools][train]") {
  auto log = TrainLog::open(job, after(0), {}, GENERATE("", "x", "3"));
  REQUIRE(log);
  train(*log, 3, 4);
  log->flush();
  CHECK(last_line() == "4:3.5");
}

TEST_CASE_METHOD(LogFixture, "lines that are not in the file yet are written at the end",
                 "[tools][train]") {
  auto log = std::make_unique<TrainLog>(TrainLog::open(job, {}).value());
  for (std::uint64_t step = 4; step <= 400; step += 4) train(*log, step, step);
  SECTION("of the log") { log.reset(); }
  SECTION("when they are asked for") { log->flush(); }
  CHECK(last_line() == "400:400");
}

TEST_CASE_METHOD(LogFixture, "a full disk ends the log, and a crash costs a line",
                 "[tools][train]") {
  std::vector<std::string> said;
  bool throws = true;
  const FullDisk disk;
  auto opened = TrainLog::open(job, {}, [&](const std::string& line) {
    said.push_back(line);
    if (std::exchange(throws, false)) throw std::runtime_error("it broke");
  });
  REQUIRE(opened);
  TrainLog log = std::move(*opened);
  train(log, 1, 12);
  log.flush();
  REQUIRE(said.size() == 3);
  CHECK_THAT(said[0],
             Catch::StartsWith("figures are not logged there any more: " + job.trainer.csv));
  CHECK(said[1] == "a line of figures is lost: it broke");
  CHECK(said[2] == said[0]);
}

TEST_CASE_METHOD(LogFixture, "a writer that crashes too often logs no more", "[tools][train]") {
  std::vector<std::string> said;
  const FullDisk disk;
  auto opened = TrainLog::open(job, {}, [&](const std::string& line) {
    said.push_back(line);
    if (line.find("there") != std::string::npos) throw std::runtime_error("it broke");
  });
  REQUIRE(opened);
  train(*opened, 1, 40);
  opened->flush();
  REQUIRE(said.size() == 2 * (1 + TrainLog::kRestarts));
  CHECK(said.back() == "figures are not logged any more: it broke");
}

TEST_CASE_METHOD(LogFixture, "a run that logs nothing keeps nothing", "[tools][train]") {
  job.trainer.csv.clear();
  auto log = TrainLog::open(job, {});
  REQUIRE(log);
  train(*log, 1, 3);
  CHECK(log->kept().empty());
}
