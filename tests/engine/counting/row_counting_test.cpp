#include "engine/counting/row_counting.h"

#include <filesystem>
#include <string>
#include <vector>

#include "engine/job/job_file.h"
#include "engine/run/job_run.h"
#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

constexpr int kCountedRows = 4000;

/// A CSV job; the rows whose number divides by 100 are damaged.
class CountedFiles {
 public:
  explicit CountedFiles(const std::string& more = "") {
    std::string rows = "label,value,id\n";
    for (int row = 0; row < kCountedRows; ++row) {
      rows += (row % 100 == 0 ? "?" : "1") + (',' + std::to_string(row)) + ",7\n";
    }
    dir_.write("rows.csv", rows);
    const std::string path =
        dir_.write("job.toml",
                   "[dataset]\nformat = \"csv\"\npaths = [\"rows.csv\"]\nbad_rows = 1000\n"
                   "[columns]\nlabel = \"label\"\ndense = [\"value\"]\nsparse = [\"id\"]\n" +
                       more);
    auto loaded = load_job(path, {}, {.cpus = 2, .memory_bytes = std::uint64_t{256} << 20});
    REQUIRE(loaded);
    job = std::move(*loaded);
  }

  /// The rows that remain for a rank; `said` receives what is announced.
  std::uint64_t remaining(std::vector<std::string>& said) {
    auto run = JobRun::open(job, JobRun::Rows::kTraining,
                            {.announce = [&](const std::string& line) { said.push_back(line); },
                             .indexing = {},
                             .stopped = {},
                             .share = {0, 2}});
    INFO((run ? "" : run.error().message));
    REQUIRE(run);
    return (*run)->rows_remaining().value();
  }

  std::string index() const { return job.run.dir + "/index"; }

  JobSpec job;

 private:
  test::TempDir dir_;
};

TEST_CASE("rows that remain are counted once, and kept with the index", "[run][row_counting]") {
  CountedFiles files;
  std::vector<std::string> said;
  CHECK(files.remaining(said) == 3960);
  REQUIRE(said.size() == 1);
  CHECK_THAT(said.front(), Catch::StartsWith("counting the rows that remain, once: reads "));
  CHECK(files.remaining(said) == 3960);
  CHECK(said.size() == 1);
  // A damaged file of counts is made anew.
  for (const auto& entry : std::filesystem::directory_iterator(files.index())) {
    if (entry.path().filename().string().starts_with("counts-")) {
      std::filesystem::resize_file(entry.path(), 40);
    }
  }
  CHECK(files.remaining(said) == 3960);
  CHECK(said.size() == 2);
}

TEST_CASE("nothing is counted where no row can be left out", "[run][row_counting]") {
  CountedFiles files;
  files.job.dataset.bad_rows = 0;
  std::vector<std::string> said;
  CHECK(files.remaining(said) == kCountedRows);
  CHECK(said.empty());
}

TEST_CASE("rows held out and sampled away are as many as an epoch leaves out",
          "[run][row_counting]") {
  CountedFiles files(
      "[trainer]\nevaluate_share = 0.2\n"
      "[[transform]]\nop = \"sampling\"\nrate = 0.5\n");
  std::vector<std::string> said;
  const std::uint64_t remaining = files.remaining(said);
  auto run = JobRun::open(files.job, JobRun::Rows::kTraining, {});
  REQUIRE(run);
  CHECK_FALSE((*run)->rows_remaining());
  REQUIRE((*run)->start(0, ~std::uint64_t{0}));
  while (true) {
    auto batch = (*run)->source().next();
    REQUIRE(batch);
    if (*batch == nullptr) break;
  }
  const Position end = (*run)->source().position();
  CHECK(end.bad_rows == 40);
  CHECK(end.rows == remaining);
  CHECK(end.held_out > 600);
  CHECK(end.sampled > 1200);
  CHECK(end.rows + end.counted() == kCountedRows);
}

TEST_CASE("a request to stop ends the count", "[run][row_counting]") {
  const CountedFiles files;
  int calls = 0;
  auto run = JobRun::open(
      files.job, JobRun::Rows::kTraining,
      {.announce = {}, .indexing = {}, .stopped = [&] { return ++calls > 3; }, .share = {0, 2}});
  REQUIRE_FALSE(run);
  CHECK(run.error().code == Code::kUnavailable);
}

}  // namespace
}  // namespace forebay
