#include "engine/run/run_watch.h"

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/job/job_file.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait_until.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

/// Every look throws.
class BrokenView final : public RunView {
 public:
  BrokenView(std::atomic<int>& looks, std::vector<std::string>& said)
      : looks_(looks), said_(said) {}
  void look() override {
    ++looks_;
    throw std::runtime_error("the view broke");
  }
  void say(const std::string& line) override { said_.push_back(line); }

 private:
  std::atomic<int>& looks_;
  std::vector<std::string>& said_;
};

}  // namespace

TEST_CASE("a watch that throws is reported once and goes on", "[engine][run]") {
  test::TempDir folder;
  folder.write("a.tsv", "0" + std::string(39, '\t') + "\n");
  auto job = load_job(folder.write("job.toml", "[dataset]\npaths = [\"*.tsv\"]\n"), {},
                      {.cpus = 1, .memory_bytes = std::uint64_t{1} << 30});
  REQUIRE(job);
  auto run = JobRun::open(*job, JobRun::Rows::kTraining, {});
  REQUIRE(run);
  REQUIRE((*run)->start(0, ~std::uint64_t{0}));
  std::atomic<int> looks = 0;
  std::vector<std::string> said;
  RunEvents events;
  events.view = [&](const ViewedRun&) { return std::make_unique<BrokenView>(looks, said); };
  RunWatch watch({.run = **run, .job = *job, .name = "train", .events = events});
  test::wait_until([&] { return looks >= 3; });
  watch.note("a line");
  watch.end();
  CHECK(said ==
        std::vector<std::string>{"watching the run failed, and goes on: the view broke", "a line"});
}

}  // namespace forebay
