#include "scheduler/client/split_client.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>

#include "core/store/store.h"
#include "scheduler/head/head_actor.h"
#include "tests/support/test_host.h"

#include "tests/support/catch.h"

namespace forebay::scheduler {
namespace {

using namespace std::chrono_literals;
using Splits = std::vector<std::uint64_t>;

/// A worker that accepts leases and never answers.
class Silent final : public ActorOf<Silent, Lease, Revoke, JobEnded, Evicted, JobOffer> {
 public:
  explicit Silent(Splits& leased) : leased_(leased) {}
  Status on(const Lease& lease, Context&) {
    leased_.insert(leased_.end(), lease.splits.begin(), lease.splits.end());
    return {};
  }
  Status on(const Revoke&, Context&) { return {}; }
  Status on(const JobEnded&, Context&) { return {}; }
  Status on(const Evicted&, Context&) { return {}; }
  Status on(const JobOffer&, Context&) { return {}; }

 private:
  Splits& leased_;
};

/// What a holder of splits was told: the splits to send, and each group of splits to drop.
struct Told {
  Splits pulled;
  std::vector<Splits> dropped;
};

/// Announces splits, and sends none.
class Miser final : public ActorOf<Miser, Pull, Drop> {
 public:
  explicit Miser(Told& told) : told_(told) {}
  Status on(const Pull& pull, Context&) { return told_.pulled.push_back(pull.split), Status(); }
  Status on(const Drop& drop, Context&) { return told_.dropped.push_back(drop.splits), Status(); }

 private:
  Told& told_;
};

/// The split client of another trainer.
class OtherSplitClient final : public ActorOf<OtherSplitClient, Ready, Deliver, HandedOn> {
 public:
  Status on(const Ready&, Context&) { return {}; }
  Status on(Deliver&&, Context&) { return {}; }
  Status on(const HandedOn&, Context&) { return {}; }
};

/// A split client and a real head on a host without threads, with one worker that has four slots.
class SplitClientFixture : HeadFinder, ArrivalSink {
 public:
  SplitClientFixture() {
    auto journal = std::make_shared<HeadActor::Journal>(
        std::move(HeadActor::Journal::open(store_, {}).value()));
    head_ = host_.spawn({.name = "head"},
                        [=] { return std::make_unique<HeadActor>(journal, HeadOptions{}); });
    REQUIRE(head_.tell(BeginHead{}));
    SplitClientOptions options;
    options.job = job();
    HeadFinder& heads = *this;
    ArrivalSink& sink = *this;
    split_client_ = host_.spawn({.name = "feed"}, [options, &heads, &sink] {
      return std::make_unique<SplitClient>(options, heads, sink);
    });
    tell_client(BeginSplitClient{});
    add_worker();
  }

  template <class M>
  void tell_client(M message) {
    if constexpr (requires { message.fingerprint; }) {
      if (message.fingerprint.empty()) message.fingerprint = job().fingerprint;
    }
    REQUIRE(split_client_.tell(std::move(message)));
    host_.deliver_all();
  }
  template <class M>
  Result<ReplyOf<M>> asked(M message) {
    auto answer = ask(head_, std::move(message), 1s);
    host_.deliver_all();
    return answer.wait();
  }
  static JobShare job() {
    return {.id = "a", .text = "t", .fingerprint = "f", .splits_per_epoch = 10, .epochs = 2};
  }
  std::uint64_t leased() { return asked(QueryCluster{}).value().leased; }
  std::uint64_t missing() {
    const ClusterStatus status = asked(QueryCluster{}).value();
    return status.waiting + status.leased;
  }
  void pass(std::chrono::milliseconds time) {
    host_.advance(time);
    host_.deliver_all();
  }

  bool problem(const std::string& part) {
    auto answer = ask(split_client_, QuerySplitClient{}, 1s);
    host_.deliver_all();
    const SplitClientStatus status = answer.wait().value();
    return std::any_of(status.problems.begin(), status.problems.end(),
                       [&](const std::string& one) { return one.find(part) != std::string::npos; });
  }

  SplitClientRef other_split_client() {
    return host_.spawn({.name = "other"}, [] { return std::make_unique<OtherSplitClient>(); });
  }
  HolderRef miser() {
    return host_.spawn({.name = "miser"}, [this] { return std::make_unique<Miser>(told); });
  }

  Splits to_worker;
  Told told;
  bool readable = true;
  std::map<std::string, JobUse> used;  ///< By worker and process.

 private:
  void add_worker() {
    Join join;
    join.name = "w";
    join.worker =
        host_.spawn({.name = "w"}, [this] { return std::make_unique<Silent>(to_worker); });
    const std::uint64_t incarnation = asked(join).value().incarnation;
    REQUIRE(asked(Prepared{incarnation, "f"}));
    REQUIRE(asked(Heartbeat{.incarnation = incarnation, .slots = 4, .holds = {}}));
  }
  HeadRef head() override { return head_; }
  Result<bool> arrived(std::uint64_t, const std::string&, Frames) override {
    if (readable) return true;
    return fail(Code::kCorrupt, "its checksum is wrong");
  }
  void has_used(const std::string& worker, std::uint64_t pid, const JobUse& so_far) override {
    used[worker + '/' + std::to_string(pid)] = so_far;
  }

  MemoryStore store_;
  test::TestHost host_;
  HeadActor::Ref head_;
  SplitClient::Ref split_client_;
};

Position after(std::uint64_t split, std::vector<std::uint32_t> ahead = {}) {
  Position position;
  position.split = split;
  position.open_split = split;
  position.ahead = std::move(ahead);
  return position;
}

TEST_CASE("a split that was trained before it was reported as handed on has arrived",
          "[scheduler][feed]") {
  SplitClientFixture cluster;
  cluster.tell_client(IssueSplits{{0, 1, 2, 3, 4}});
  REQUIRE(cluster.to_worker == Splits{0, 1, 2, 3});
  cluster.tell_client(HandedOn{0});
  CHECK(cluster.to_worker == Splits{0, 1, 2, 3, 4});
  CHECK(cluster.leased() == 4);
  cluster.tell_client(Trained{after(3)});  // 1 and 2 were handed on, too: not reported yet.
  CHECK(cluster.leased() == 2);
  cluster.tell_client(HandedOn{1});
  cluster.tell_client(HandedOn{2});
  CHECK(cluster.leased() == 2);
  cluster.tell_client(IssueSplits{{5, 6}});
  CHECK(cluster.to_worker == Splits{0, 1, 2, 3, 4, 5, 6});
}

TEST_CASE("a split that was trained ahead of others has arrived", "[scheduler][feed]") {
  SplitClientFixture cluster;
  cluster.tell_client(IssueSplits{{0, 1, 2, 3}});
  REQUIRE(cluster.leased() == 4);
  cluster.tell_client(Trained{after(1, {2})});
  CHECK(cluster.leased() == 2);  // 1 and 2: 0 and 3 are over.
  cluster.tell_client(HandedOn{1});
  CHECK(cluster.leased() == 1);
}

TEST_CASE("a delivery that is taken says what its worker has read", "[scheduler][feed]") {
  SplitClientFixture cluster;
  cluster.tell_client(IssueSplits{{0, 1}});
  const auto deliver = [&](std::uint64_t split, std::uint64_t requests) {
    return Deliver{.split = split,
                   .worker = "w",
                   .frames = {},
                   .pid = 7,
                   .use = {.requests = requests, .bytes = 100},
                   .holder = cluster.miser()};
  };
  cluster.readable = false;
  cluster.tell_client(deliver(0, 3));
  CHECK(cluster.used.empty());
  cluster.readable = true;
  cluster.tell_client(deliver(0, 4));
  cluster.tell_client(deliver(0, 5));  // again
  CHECK(cluster.used == std::map<std::string, JobUse>{{"w/7", {.requests = 4, .bytes = 100}}});
}

TEST_CASE("a delivery that cannot be read is a problem for a while, not for ever",
          "[scheduler][feed]") {
  SplitClientFixture cluster;
  cluster.tell_client(IssueSplits{{0}});
  cluster.readable = false;
  cluster.tell_client(Deliver{.split = 0, .worker = "w", .frames = {}, .holder = cluster.miser()});
  CHECK(cluster.problem("split 0 from worker w could not be read: its checksum is wrong"));
  cluster.pass(10s);
  CHECK_FALSE(cluster.problem("could not be read"));
}

TEST_CASE("arrivals are reported together once they are a quarter of what the worker has left",
          "[scheduler][feed]") {
  SplitClientFixture cluster;
  cluster.tell_client(IssueSplits{{0, 1, 2, 3, 4, 5, 6}});
  const HolderRef holder = cluster.miser();
  const auto deliver = [&](std::uint64_t split, std::uint64_t left) {
    cluster.tell_client(Deliver{
        .split = split, .worker = "w", .frames = {}, .pid = 7, .holder = holder, .left = left});
  };
  deliver(0, 9);
  deliver(1, 9);
  CHECK(cluster.told.dropped.empty());  // 4 × 2 < 9
  CHECK(cluster.to_worker == Splits{0, 1, 2, 3});
  deliver(2, 9);
  CHECK(cluster.told.dropped == std::vector<Splits>{{0, 1, 2}});
  CHECK(cluster.to_worker == Splits{0, 1, 2, 3, 4, 5, 6});
  deliver(3, 5);
  CHECK(cluster.told.dropped.size() == 1);
  cluster.pass(10ms);
  CHECK(cluster.told.dropped.back() == Splits{3});
  deliver(4, 4);  // 4 × 1 = 4
  CHECK(cluster.told.dropped.back() == Splits{4});
  deliver(4, 4);  // a duplicate
  CHECK(cluster.told.dropped.size() == 4);
  CHECK(cluster.leased() == 2);  // 5 and 6
}

TEST_CASE("a split that comes without its worker is not taken", "[scheduler][feed]") {
  SplitClientFixture cluster;
  cluster.tell_client(IssueSplits{{0}});
  cluster.tell_client(Deliver{.split = 0, .worker = "w", .frames = {}});
  CHECK(cluster.leased() == 1);
  CHECK(cluster.used.empty());
}

TEST_CASE("a job that ends reports the arrivals that were gathered", "[scheduler][feed]") {
  SplitClientFixture cluster;
  cluster.tell_client(IssueSplits{{0, 1}});
  cluster.tell_client(
      Deliver{.split = 0, .worker = "w", .frames = {}, .holder = cluster.miser(), .left = 9});
  REQUIRE(cluster.told.dropped.empty());
  cluster.tell_client(EndJob{""});
  CHECK(cluster.told.dropped == std::vector<Splits>{{0}});
}

TEST_CASE("splits are issued together once they are a quarter of those that are missing",
          "[scheduler][feed]") {
  SplitClientFixture cluster;
  cluster.tell_client(IssueSplits{{0, 1, 2, 3, 4, 5, 6}});
  cluster.tell_client(IssueSplits{{7}});
  CHECK(cluster.missing() == 7);  // 4 × 1 < 8
  cluster.tell_client(IssueSplits{{8}});
  CHECK(cluster.missing() == 7);  // 4 × 2 < 9
  cluster.tell_client(IssueSplits{{9}});
  CHECK(cluster.missing() == 10);  // 4 × 3 ≥ 10
  cluster.tell_client(IssueSplits{{10}});
  cluster.pass(10ms);
  CHECK(cluster.missing() == 11);
  cluster.tell_client(IssueSplits{{11}});
  CHECK(cluster.missing() == 11);
  cluster.pass(10ms);
  CHECK(cluster.missing() == 12);
}

TEST_CASE("a split that its worker has sent is not asked for until it is late",
          "[scheduler][feed]") {
  SplitClientFixture cluster;
  cluster.tell_client(IssueSplits{{0, 1}});
  const HolderRef holder = cluster.miser();
  cluster.tell_client(Ready{.split = 0, .bytes = 8, .holder = holder, .sent = true});
  CHECK(cluster.told.pulled.empty());
  cluster.tell_client(Ready{.split = 1, .bytes = 8, .holder = holder, .sent = false});
  CHECK(cluster.told.pulled == Splits{1});
  cluster.pass(10s);
  CHECK(cluster.told.pulled == Splits{1, 0, 1});
}

TEST_CASE("a delivery that cannot be read is dropped by its worker and asked of another",
          "[scheduler][feed]") {
  SplitClientFixture cluster;
  cluster.tell_client(IssueSplits{{0}});
  const HolderRef other = cluster.miser();
  cluster.tell_client(Ready{.split = 0, .bytes = 8, .holder = other});
  cluster.readable = false;
  cluster.told = {};
  cluster.tell_client(Deliver{.split = 0, .worker = "v", .frames = {}, .holder = cluster.miser()});
  CHECK(cluster.told.dropped == std::vector<Splits>{{0}});
  CHECK(cluster.told.pulled == Splits{0});  // from the one that announced it
  cluster.tell_client(Deliver{.split = 0, .worker = "w", .frames = {}, .holder = other});
  CHECK(cluster.told.dropped == std::vector<Splits>{{0}, {0}});
  CHECK(cluster.told.pulled == Splits{0});
}

TEST_CASE("a split of the job that had this address before is dropped", "[scheduler][feed]") {
  SplitClientFixture cluster;
  cluster.tell_client(IssueSplits{{0, 1}});
  const HolderRef holder = cluster.miser();
  const std::string other = "fingerprint of the earlier job";
  cluster.tell_client(Ready{.split = 0, .bytes = 8, .holder = holder, .fingerprint = other});
  CHECK(cluster.told.pulled.empty());
  CHECK(cluster.told.dropped == std::vector<Splits>{{0}});
  cluster.tell_client(
      Deliver{.split = 1, .worker = "w", .frames = {}, .holder = holder, .fingerprint = other});
  CHECK(cluster.told.dropped == std::vector<Splits>{{0}, {1}});
  CHECK(cluster.missing() == 2);
}

TEST_CASE("a split that is made for long is a problem later than one that is carried for long",
          "[scheduler][feed]") {
  SplitClientFixture cluster;
  cluster.tell_client(IssueSplits{{0, 1}});
  cluster.pass(9s);
  cluster.tell_client(HandedOn{1});  // Other splits arrive meanwhile.
  CHECK_FALSE(cluster.problem("split 0"));
  cluster.pass(2s);
  CHECK(cluster.problem("split 0 was not announced by any worker"));
}

TEST_CASE("a split stuck on its way is a problem, even behind a lower split that was not begun",
          "[scheduler][feed]") {
  SplitClientFixture cluster;
  cluster.tell_client(IssueSplits{{0, 1}});
  cluster.tell_client(Ready{.split = 1, .bytes = 8, .holder = cluster.miser()});
  cluster.pass(3s);
  CHECK_FALSE(cluster.problem("split"));
  cluster.pass(1s);
  CHECK(cluster.problem("split 1 has been on its way for"));
}

TEST_CASE("the absence of all splits is a problem before a single split is late",
          "[scheduler][feed]") {
  SplitClientFixture cluster;
  cluster.pass(20s);
  cluster.tell_client(IssueSplits{{0, 1}});
  cluster.pass(5s);
  CHECK_FALSE(cluster.problem("split"));
  cluster.pass(1s);
  CHECK(cluster.problem("no split has come for 6.0 s: split 0 was not announced by any worker"));
  cluster.tell_client(HandedOn{1});
  CHECK_FALSE(cluster.problem("split"));
  cluster.tell_client(HandedOn{0});
  cluster.pass(20s);
  CHECK_FALSE(cluster.problem("split"));  // No split is missing.
}

TEST_CASE("a job closed by a dead trainer's late message is opened again", "[scheduler][feed]") {
  SplitClientFixture cluster;
  cluster.tell_client(IssueSplits{{0, 1}});
  REQUIRE(cluster.missing() == 2);
  OpenJob late;
  late.job = cluster.job();
  late.split_client = cluster.other_split_client();
  REQUIRE(cluster.asked(late));
  REQUIRE(cluster.missing() == 0);  // The other trainer had issued no split.
  cluster.pass(1s);
  CHECK(cluster.missing() == 0);
  for (int step = 0; step < 3; ++step) cluster.pass(1s);  // It asks, then opens the job anew.
  CHECK(cluster.missing() == 2);
}

TEST_CASE("splits that were trained are not issued again", "[scheduler][feed]") {
  SplitClientFixture cluster;
  cluster.tell_client(Trained{after(2)});
  cluster.pass(250ms);
  cluster.tell_client(IssueSplits{{0, 1, 2}});
  CHECK(cluster.to_worker == Splits{2});
  CHECK(cluster.asked(QueryCluster{}).value().finished == 2);
}

}  // namespace
}  // namespace forebay::scheduler
