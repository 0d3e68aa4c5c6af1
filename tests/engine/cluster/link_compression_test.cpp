#include "engine/cluster/link_compression.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/engine/small_job.h"
#include "tests/support/manual_clock.h"
#include "tests/support/wait_until.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;

/// A job's stages behind a slow link: as many splits as they may hold wait to be fetched.
class BlockedStages {
 public:
  BlockedStages(const JobSpec& job, std::uint64_t opening)
      : run_(std::move(JobRun::open(job, JobRun::Rows::kTraining, {}).value())),
        stages({.run = *run_,
                .room = std::uint64_t{1} << 30,
                .done = [](std::uint64_t, const Frames&) {},
                .failed = [](const Error&) {},
                .opening = opening}) {}

  void make(std::uint64_t count) {
    for (const std::uint64_t all = made_ + count; made_ < all; ++made_) {
      stages.make(made_);
      test::wait_until([this] { return stages.splits_done() > made_; });
    }
  }
  std::uint64_t ready() const { return stages.slots(); }

 private:
  std::unique_ptr<JobRun> run_;
  std::uint64_t made_ = 0;

 public:
  NodeStages stages;
};

struct LinkFixture {
  test::SmallJob job;
  test::ManualClock clock;
  std::vector<std::string> said;
  LinkCompression link{1, clock, [this](const std::string& line) { said.push_back(line); }};

  /// Has the stages make splits for a period behind the link, and looks before and after it.
  void see_blocked(BlockedStages& blocked, std::uint64_t splits) {
    link.look(blocked.stages, blocked.ready());
    blocked.make(splits);
    clock.advance(2s);
    link.look(blocked.stages, blocked.ready());
  }
};

TEST_CASE_METHOD(LinkFixture, "behind a slow link a worker compresses", "[engine][cluster]") {
  BlockedStages blocked(job.spec, 1);
  blocked.make(1);
  see_blocked(blocked, 4);
  CHECK(blocked.stages.compression() != Compression::kNone);
  REQUIRE(said.size() == 1);
  CHECK(said[0].find("plain columns would arrive with 0 MB/s") != std::string::npos);
}

TEST_CASE_METHOD(LinkFixture, "a worker's next job is measured as its first one was",
                 "[engine][cluster]") {
  {
    BlockedStages first(job.spec, 1);
    first.make(8);
    see_blocked(first, 8);
  }
  clock.advance(10s);
  BlockedStages second(job.spec, 2);
  link.look(second.stages, second.ready());
  LinkSeen seen = link.seen(second.stages);
  CHECK(seen.blocked == Approx(0.3));
  CHECK(seen.ratios.empty());  // nothing of this job was tried yet
  CHECK(said.size() == 1);
  second.make(1);
  see_blocked(second, 4);
  REQUIRE(said.size() == 2);
  CHECK(said[1] == said[0]);
  CHECK(second.stages.compression() != Compression::kNone);
}

}  // namespace
}  // namespace forebay
