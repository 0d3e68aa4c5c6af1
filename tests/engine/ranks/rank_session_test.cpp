#include "engine/ranks/rank_session.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>

#include "core/runtime/ask.h"
#include "engine/ranks/rank_follower.h"
#include "engine/ranks/rank_leader.h"
#include "tests/support/wait_until.h"

#include "tests/support/catch.h"

using namespace forebay;

namespace {

/// Rank 0 of three, and the others without a model.
struct Meeting {
  explicit Meeting(std::chrono::nanoseconds timeout = std::chrono::seconds(20)) {
    leader = RankLeader::open({.size = 3,
                               .group = "g",
                               .keys = "",
                               .alike = "job",
                               .address = "127.0.0.1:0",
                               .timeout = timeout,
                               .on_stop = [this](int number) { stopped_by = number; }},
                              clock)
                 .value();
  }
  std::unique_ptr<RankFollower> other(int rank, const std::string& alike = "job") {
    return RankFollower::open({.rank = rank,
                               .size = 3,
                               .group = "g",
                               .keys = "",
                               .alike = alike,
                               .address = leader->address()},
                              clock)
        .value();
  }
  void come(std::size_t rank, const std::string& alike = "job") {
    others[rank - 1] = other(static_cast<int>(rank), alike);
  }
  void go(std::size_t rank) { others[rank - 1].reset(); }
  void come_all() {
    come(1);
    come(2);
    REQUIRE(leader->wait_for_ranks(stop));
  }

  SystemClock clock;
  std::atomic<int> alive{0};  // states
  std::atomic<bool> stop{false};
  std::atomic<int> stopped_by{0};
  std::unique_ptr<RankLeader> leader;
  std::array<std::unique_ptr<RankFollower>, 2> others;
};

/// The last session of an endpoint.
struct Seen {
  PeerId peer = PeerId::kNone;
  std::string ended;  // why; "": it goes on
};

class Watcher final : public ActorOf<Watcher, PeerUp, PeerDown> {
 public:
  explicit Watcher(Synchronized<Seen>& seen) : seen_(seen) {}
  Status on(const PeerUp& up, Context&) {
    seen_.change([&](Seen& seen) { seen.peer = up.peer; });
    return {};
  }
  Status on(const PeerDown& down, Context&) {
    seen_.change([&](Seen& seen) { seen.ended = down.reason.message; });
    return {};
  }

 private:
  Synchronized<Seen>& seen_;
};

/// Asks rank 0 to stop before it gives its hello, that of another group.
class Stranger final : public ActorOf<Stranger, RankCall> {
 public:
  Result<RankHello> on(const RankCall& call, Context& context) {
    auto told = context.tell(call.leader, RankStop{15});
    if (!told) return pass(told);
    told = context.tell(call.leader, RankFailed{{Code::kInvalid, "no reason"}});
    if (!told) return pass(told);
    told = context.tell(call.leader, RankCredit{9});
    if (!told) return pass(told);
    return RankHello{1, "other", "job"};
  }
};

/// Gives no hello.
class Silent final : public ActorOf<Silent, RankCall> {
 public:
  Result<RankHello> on(const RankCall&, Context&) { return fail(Code::kInvalid, "no rank"); }
};

/// One tensor of eight bytes; counts how many of it are alive.
class Counted final : public StateSource {
 public:
  explicit Counted(std::atomic<int>& alive) : alive_(alive) { ++alive_; }
  ~Counted() override { --alive_; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  const std::vector<StateTensor>& tensors() const override { return tensors_; }
  Status read(std::size_t, std::uint64_t, std::span<std::byte> to) override {
    std::ranges::fill(to, std::byte(7));
    return {};
  }

 private:
  std::atomic<int>& alive_;
  const std::vector<StateTensor> tensors_ = {{.name = "some", .shape = {2}}};
};

/// A process that is no rank of forebay.
struct PeerFixture : Meeting {
  PeerFixture() {
    net = NetworkEndpoint::make({.keys = "", .say = {}}, clock).value();
    net->node().subscribe(
        net->actors().spawn({}, [this] { return std::make_unique<Watcher>(seen); }));
  }
  ~PeerFixture() { net.reset(); }
  /// Connects to rank 0; returns why rank 0 closed the session.
  std::string come_to_rank_0() {
    REQUIRE(net->connect(leader->address()));
    std::string why;
    const auto over = [](const Seen& now) { return !now.ended.empty(); };
    REQUIRE(seen.wait(std::chrono::seconds(20), over, [&](Seen& now) { why = now.ended; }));
    return why;
  }

  Synchronized<Seen> seen;
  std::unique_ptr<NetworkEndpoint> net;
};

}  // namespace

TEST_CASE_METHOD(Meeting, "ranks have met when all have connected", "[tools][ranks]") {
  come(2);
  come(1);
  CHECK(leader->wait_for_ranks(stop));
  CHECK(leader->check_ranks());
  leader->command({.kind = RankCommand::Kind::kMeet});
  CHECK(others[0]->wait_to_meet());
  CHECK(others[1]->wait_to_meet());
}

TEST_CASE("ranks that do not connect are named", "[tools][ranks]") {
  Meeting meeting(std::chrono::nanoseconds(0));
  const Status met = meeting.leader->wait_for_ranks(meeting.stop);
  REQUIRE_FALSE(met);
  CHECK(met.error().code == Code::kTimeout);
  CHECK(met.error().message.starts_with("rank 1, rank 2 does not come within"));
}

TEST_CASE_METHOD(Meeting, "a rank that is lost before all have met is named to all",
                 "[tools][ranks]") {
  come_all();
  go(2);
  const Error why = leader->explain({Code::kUnavailable, "connection reset"});
  CHECK(why.message.starts_with("rank 2 was lost ("));
  CHECK(why.message.ends_with(" before all ranks had met; start all ranks again"));
  const Status met = leader->wait_for_ranks(stop);
  REQUIRE_FALSE(met);
  CHECK(met.error().code == Code::kUnavailable);
  CHECK(met.error().message == why.message);
  leader->end(met);
  const Status told = others[0]->wait_to_meet();
  REQUIRE_FALSE(told);
  CHECK(told.error().message == "rank 0: " + why.message);
}

TEST_CASE_METHOD(PeerFixture,
                 "a rank notices that rank 0 is lost, and releases the state that it was reading",
                 "[tools][ranks]") {
  const auto address = net->listen("127.0.0.1:0");
  REQUIRE(address);
  const auto rank =
      RankFollower::open({.rank = 1, .size = 2, .group = "g", .keys = "", .address = *address},
                         clock)
          .value();
  PeerId peer = PeerId::kNone;
  const auto came = [](const Seen& now) { return now.peer != PeerId::kNone; };
  REQUIRE(seen.wait(std::chrono::seconds(20), came, [&](Seen& now) { peer = now.peer; }));
  auto taken = ask(net->node().actor<RankRef>(peer, kRankName),
                   RankCommand{.kind = RankCommand::Kind::kSnapshot}, std::chrono::seconds(20));
  REQUIRE(rank->next_command());
  rank->give(std::make_unique<Counted>(alive));
  REQUIRE(taken.wait());
  CHECK(alive == 1);
  net.reset();
  test::wait_until([&] { return alive == 0; });
  const Status met = rank->wait_to_meet();
  REQUIRE_FALSE(met);
  CHECK(met.error().code == Code::kUnavailable);
  CHECK(met.error().message.starts_with("rank 0 was lost ("));
}

TEST_CASE_METHOD(Meeting, "a rank with another job is named once all have connected",
                 "[tools][ranks]") {
  come(1);
  come(2, "another job");
  const Status met = leader->wait_for_ranks(stop);
  REQUIRE_FALSE(met);
  CHECK(met.error().code == Code::kInvalid);
  CHECK(met.error().message.starts_with("rank 2 has another job file"));
}

TEST_CASE_METHOD(Meeting, "rank 0 waits for no rank after a stop request", "[tools][ranks]") {
  stop = true;
  const Status met = leader->wait_for_ranks(stop);
  REQUIRE_FALSE(met);
  CHECK(met.error().message.find("a stop was asked for") != std::string::npos);
}

TEST_CASE_METHOD(Meeting, "a second rank of one number is refused, and the first one stays",
                 "[tools][ranks]") {
  come_all();
  const auto second = other(1);
  const Status met = second->wait_to_meet();
  REQUIRE_FALSE(met);
  CHECK(met.error().code == Code::kUnavailable);
  CHECK_THAT(met.error().message, Catch::Contains("two processes have RANK=1"));
  CHECK(leader->check_ranks());
}

TEST_CASE_METHOD(Meeting, "a rank that was lost does not come back", "[tools][ranks]") {
  come_all();
  go(2);
  REQUIRE_FALSE(leader->explain({Code::kUnavailable, ""}).message.empty());
  come(2);
  const Status met = others[1]->wait_to_meet();
  REQUIRE_FALSE(met);
  CHECK_THAT(met.error().message, Catch::Contains("rank 2 was lost"));
}

TEST_CASE_METHOD(PeerFixture, "a peer without a rank's actor is disconnected", "[tools][ranks]") {
  CHECK_THAT(come_to_rank_0(), Catch::Contains("no rank of this run"));
}

TEST_CASE_METHOD(PeerFixture, "a peer that does not say which rank it is is disconnected",
                 "[tools][ranks]") {
  const auto silent = net->actors().spawn({}, [] { return std::make_unique<Silent>(); });
  net->node().publish(std::string(kRankName), silent);
  CHECK_THAT(come_to_rank_0(), Catch::Contains("no rank of this run"));
}

TEST_CASE_METHOD(PeerFixture,
                 "a rank of another group is disconnected, and what it says is ignored",
                 "[tools][ranks]") {
  const auto stranger = net->actors().spawn({}, [] { return std::make_unique<Stranger>(); });
  net->node().publish(std::string(kRankName), stranger);
  CHECK_THAT(come_to_rank_0(), Catch::Contains("no rank of this run"));
  CHECK(stopped_by == 0);
  CHECK(leader->check_ranks());
  come_all();
}

TEST_CASE_METHOD(Meeting, "rank 0 reads the states of the others until they are lost",
                 "[tools][ranks]") {
  come_all();
  std::vector<std::thread> models;
  for (auto& each : others) {
    models.emplace_back([&] {
      if (each->next_command()) each->give(std::make_unique<Counted>(alive));
    });
  }
  auto states = leader->snapshots();
  for (std::thread& model : models) model.join();
  REQUIRE(states);
  REQUIRE(states->size() == 2);
  std::vector<std::byte> bytes(8);
  CHECK((*states)[1]->read(0, 0, bytes));
  CHECK(bytes[7] == std::byte(7));
  go(2);
  const Status read = (*states)[1]->read(0, 0, bytes);
  REQUIRE_FALSE(read);
  CHECK(read.error().message.starts_with("rank 2 was lost: "));
  CHECK(alive == 1);
  states->clear();
  test::wait_until([&] { return alive == 0; });
}

TEST_CASE_METHOD(Meeting, "rank 0 releases the checkpoint that a lost rank was reading",
                 "[tools][ranks]") {
  come_all();
  REQUIRE(leader->restore([&] { return std::make_unique<Counted>(alive); }));
  CHECK(alive == 2);
  go(2);
  test::wait_until([&] { return alive == 1; });
  const Status ready = leader->wait_until_ready();
  REQUIRE_FALSE(ready);
  CHECK(ready.error().message.starts_with("rank 2 was lost ("));
}

TEST_CASE_METHOD(Meeting, "an error of a rank that rank 0 has asked is reported with its number",
                 "[tools][ranks]") {
  come_all();
  leader->accept({}, {});
  for (auto& each : others) REQUIRE(each->wait_for_acceptance());
  others[0]->ready({});
  others[1]->ready(fail(Code::kOverloaded, "no memory"));
  const Status ready = leader->wait_until_ready();
  REQUIRE_FALSE(ready);
  CHECK(ready.error().code == Code::kOverloaded);
  CHECK(ready.error().message == "rank 2: no memory");
}
