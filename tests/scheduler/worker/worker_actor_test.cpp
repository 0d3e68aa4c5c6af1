#include "scheduler/worker/worker_actor.h"

#include <memory>
#include <string>
#include <vector>

#include "tests/support/test_host.h"

#include "tests/support/catch.h"

namespace forebay::scheduler {
namespace {

using namespace std::chrono_literals;
using Splits = std::vector<std::uint64_t>;

struct Seen {
  std::vector<Ready> announced;
  std::vector<Deliver> delivered;
};

/// A split client that records what it is sent.
class Client final : public ActorOf<Client, Ready, Deliver, HandedOn> {
 public:
  explicit Client(Seen& seen) : seen_(seen) {}
  Status on(const Ready& ready, Context&) { return seen_.announced.push_back(ready), Status(); }
  Status on(Deliver&& one, Context&) { return seen_.delivered.push_back(one), Status(); }
  Status on(const HandedOn&, Context&) { return {}; }

 private:
  Seen& seen_;
};

/// A head that takes any worker, of one job.
class Host final : public ActorOf<Host, Join, Prepared, Heartbeat, GiveBack, Leave, OpenJob, Issue,
                                  Arrived, Finished, CloseJob> {
 public:
  Host(WorkerRef& member, const bool& accepts) : member_(member), accepts_(accepts) {}
  Result<Accepted> on(const Join& join, Context&) {
    if (!accepts_) return fail(Code::kUnavailable, "not now");
    member_ = join.worker;
    Accepted accepted;
    accepted.incarnation = 1;
    accepted.job.id = "a";
    return accepted;
  }
  Status on(const Prepared&, Context&) { return {}; }
  Status on(const Heartbeat&, Context&) { return {}; }
  Status on(const GiveBack&, Context&) { return {}; }
  Status on(const Leave&, Context&) { return {}; }
  Result<JobOpened> on(const OpenJob&, Context&) { return JobOpened{}; }
  Status on(const Issue&, Context&) { return {}; }
  Status on(const Arrived&, Context&) { return {}; }
  Status on(const Finished&, Context&) { return {}; }
  Status on(const CloseJob&, Context&) { return {}; }

 private:
  WorkerRef& member_;
  const bool& accepts_;
};

/// A worker with the job open, whose splits the test makes.
class WorkerFixture : SplitExecutor, HeadFinder, SplitClientFinder {
 public:
  WorkerFixture() {
    head_ =
        host_.spawn({.name = "head"}, [this] { return std::make_unique<Host>(member_, accepts); });
    new_client();
    WorkerOptions options;
    options.name = "w";
    SplitExecutor& work = *this;
    HeadFinder& heads = *this;
    SplitClientFinder& clients = *this;
    worker_ = host_.spawn({.name = "w"}, [&, options] {
      return std::make_unique<WorkerActor>(options, work, heads, clients);
    });
    tell(BeginWorker{});
    tell(WorkOpened{.opening = opening_, .fingerprint = "f", .error = {}});
  }

  template <class M>
  void tell(M message) {
    REQUIRE(worker_.tell(std::move(message)));
    host_.deliver_all();
  }
  void lease(Splits splits, Splits again = {}) {
    REQUIRE(member_.tell(Lease{1, std::move(splits), std::move(again)}));
    host_.deliver_all();
  }
  void make(std::uint64_t split) {
    tell(WorkDone{.opening = opening_, .split = split, .frames = {}});
  }
  void pass(std::chrono::milliseconds time) {
    host_.advance(time);
    host_.deliver_all();
  }
  /// The connection ends, and another begins.
  void new_client() {
    if (client_.receiver() != nullptr) client_.stop();
    host_.deliver_all();
    client_ = host_.spawn({.name = "feed"}, [this] { return std::make_unique<Client>(seen); });
  }
  WorkerStatus status() {
    auto answer = ask(worker_, QueryWorker{}, 1s);
    host_.deliver_all();
    return answer.wait().value();
  }

  Seen seen;
  bool accepts = true;  ///< The head takes workers.

 private:
  void open(const JobShare&, std::uint64_t opening) override { opening_ = opening; }
  void begin(std::uint64_t) override {}
  bool forget(std::uint64_t) override { return true; }
  bool begun(std::uint64_t) const override { return true; }
  std::uint32_t slots() const override { return 4; }
  Load load() override { return {}; }
  HeadRef head() override { return head_; }
  SplitClientRef split_client(const std::string&) override { return client_; }

  test::TestHost host_;
  HeadRef head_;
  WorkerRef member_;
  SplitClientRef client_;
  WorkerActor::Ref worker_;
  std::uint64_t opening_ = 0;
};

TEST_CASE_METHOD(WorkerFixture,
                 "a split that no other worker can have is sent as soon as it is made",
                 "[scheduler][worker]") {
  lease({3, 4, 5});
  make(4);
  CHECK(seen.announced.empty());
  REQUIRE(seen.delivered.size() == 1);
  CHECK(seen.delivered[0].split == 4);
  CHECK(seen.delivered[0].left == 2);  // 3 and 5 are still made.
  CHECK(seen.delivered[0].holder.id() != ActorId::kNobody);
  CHECK(status().splits_done == 0);
  tell(Drop{{4, 9}});
  CHECK(status().splits_done == 1);
}

TEST_CASE_METHOD(WorkerFixture,
                 "a split that another worker may have is announced, and sent if wanted",
                 "[scheduler][worker]") {
  lease({3, 4}, {4});
  make(4);
  CHECK(seen.delivered.empty());
  REQUIRE(seen.announced.size() == 1);
  CHECK_FALSE(seen.announced[0].sent);
  tell(Pull{4});
  REQUIRE(seen.delivered.size() == 1);
  lease({3}, {3});  // The head gives it to two.
  make(3);
  CHECK(seen.delivered.size() == 1);
}

TEST_CASE_METHOD(
    WorkerFixture,
    "a split whose confirmation does not come is asked after, and is new to another client",
    "[scheduler][worker]") {
  lease({3});
  make(3);
  REQUIRE(seen.delivered.size() == 1);
  pass(1s);
  REQUIRE(seen.announced.size() == 1);
  CHECK(seen.announced[0].sent);  // To this client: it may be on its way.
  new_client();
  for (int tick = 0; tick < 8; ++tick) pass(250ms);
  REQUIRE(seen.announced.size() > 1);
  CHECK_FALSE(seen.announced.back().sent);
}

TEST_CASE_METHOD(WorkerFixture, "a worker without a membership announces what it made",
                 "[scheduler][worker]") {
  lease({3});
  accepts = false;
  tell(Evicted{1, "it was silent"});
  make(3);
  CHECK(seen.delivered.empty());
  CHECK(seen.announced.size() == 1);
}

}  // namespace
}  // namespace forebay::scheduler
