#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "core/store/store.h"
#include "scheduler/client/split_client.h"
#include "scheduler/head/head_actor.h"
#include "scheduler/worker/worker_actor.h"
#include "tests/support/test_host.h"

#include "tests/support/catch.h"

namespace forebay::scheduler {
namespace {

using namespace std::chrono_literals;
using Splits = std::vector<std::uint64_t>;

JobShare job(std::string id = "a") {
  return {
      .id = std::move(id), .text = "t", .fingerprint = "f", .splits_per_epoch = 10, .epochs = 2};
}

/// Recorded messages to a split client and a worker.
struct Recorded {
  std::vector<std::uint64_t> leased;
  std::vector<std::uint64_t> again;  ///< Those of them that another worker may have.
  std::vector<std::uint64_t> revoked;
  std::vector<std::string> ended;
  std::vector<JobOffer> offers;
  int evicted = 0;
};

class Probe final
    : public ActorOf<Probe, Lease, Revoke, JobEnded, Evicted, JobOffer, Ready, Deliver, HandedOn> {
 public:
  explicit Probe(Recorded& recorded) : recorded_(recorded) {}
  Status on(const Lease& lease, Context&) {
    recorded_.leased.insert(recorded_.leased.end(), lease.splits.begin(), lease.splits.end());
    recorded_.again.insert(recorded_.again.end(), lease.again.begin(), lease.again.end());
    return {};
  }
  Status on(const Revoke& revoke, Context&) {
    recorded_.revoked.insert(recorded_.revoked.end(), revoke.splits.begin(), revoke.splits.end());
    return {};
  }
  Status on(const JobEnded& ended, Context&) {
    return recorded_.ended.push_back(ended.error), Status();
  }
  Status on(const JobOffer& offer, Context&) { return recorded_.offers.push_back(offer), Status(); }
  Status on(const Evicted&, Context&) { return ++recorded_.evicted, Status(); }
  Status on(const Ready&, Context&) { return {}; }
  Status on(const Deliver&, Context&) { return {}; }
  Status on(const HandedOn&, Context&) { return {}; }

 private:
  Recorded& recorded_;
};

/// A head on a host without threads, with functions that send messages to it.
struct HeadFixture {
  Recorded recorded_by_split_client;
  std::map<std::string, Recorded> recorded;
  MemoryStore store;
  test::TestHost host;
  std::shared_ptr<HeadActor::Journal> journal;
  HeadActor::Ref head;
  Probe::Ref split_client;
  std::uint64_t session = 0;

  explicit HeadFixture(HeadOptions options = {}) {
    start(options);
    split_client = probe(recorded_by_split_client);
  }

  void start(const HeadOptions& options) {
    journal = std::make_shared<HeadActor::Journal>(
        std::move(HeadActor::Journal::open(store, {}).value()));
    head = host.spawn({.name = "head"},
                      [this, options] { return std::make_unique<HeadActor>(journal, options); });
    REQUIRE(head.tell(BeginHead{}));
    host.deliver_all();
  }
  void restart(const HeadOptions& options = {}) {
    head.stop();
    host.deliver_all();
    start(options);
  }
  Probe::Ref probe(Recorded& to) {
    return host.spawn({.name = "probe"}, [&to] { return std::make_unique<Probe>(to); });
  }
  template <class M>
  Result<ReplyOf<M>> asked(M message) {
    auto answer = ask(head, std::move(message), 1s);
    host.deliver_all();
    return answer.wait();
  }
  Result<JobOpened> open(OpenJob open = {}) {
    if (open.job.id.empty()) open.job = job();
    open.split_client = split_client;
    auto opened = asked(std::move(open));
    if (opened) session = opened->session;
    return opened;
  }
  Result<Accepted> join(const std::string& name, Join join = {}) {
    join.name = name;
    join.worker = probe(recorded[name]);
    return asked(std::move(join));
  }
  /// Joins as a worker that works for a job since an earlier membership.
  void join_with(const std::string& name, const std::string& its_job) {
    Join again;
    again.job = its_job;
    join(name, std::move(again)).value();
  }
  /// A member that is leased splits.
  std::uint64_t member(const std::string& name, std::uint32_t slots) {
    const std::uint64_t incarnation = join(name).value().incarnation;
    REQUIRE(asked(Prepared{incarnation, "f"}));
    REQUIRE(beat(incarnation, slots));
    return incarnation;
  }
  Status beat(std::uint64_t incarnation, std::uint32_t slots, Splits holds = {}) {
    return asked(Heartbeat{.incarnation = incarnation, .slots = slots, .holds = std::move(holds)});
  }
  Status issue(Splits splits) { return asked(Issue{std::move(splits), session}); }
  ClusterStatus status() { return asked(QueryCluster{}).value(); }
  bool says(const std::string& part) {
    for (const std::string& problem : status().problems) {
      if (problem.find(part) != std::string::npos) return true;
    }
    return false;
  }
  void pass(std::chrono::milliseconds time, const std::vector<std::uint64_t>& beating = {}) {
    for (; time > 0ms; time -= 250ms) {
      host.advance(250ms);
      for (const std::uint64_t one : beating) {
        REQUIRE(head.tell(Heartbeat{.incarnation = one, .slots = 4, .holds = {}}));
      }
      host.deliver_all();
    }
  }
};

TEST_CASE("a heartbeat changes the limits of its node, or leaves them as they were",
          "[scheduler][head]") {
  HeadFixture cluster;
  Join join;
  join.cpus = 4;
  join.memory_bytes = 8;
  const std::uint64_t one = cluster.join("w", std::move(join)).value().incarnation;
  REQUIRE(cluster.beat(one, 1));
  CHECK(cluster.status().nodes.front().cpus == 4);
  CHECK(cluster.status().nodes.front().memory_limit == 8);
  REQUIRE(cluster.asked(Heartbeat{.incarnation = one, .holds = {}, .cpus = 2, .memory_limit = 6}));
  CHECK(cluster.status().nodes.front().cpus == 2);
  CHECK(cluster.status().nodes.front().memory_limit == 6);
}

TEST_CASE("the lowest splits are leased first, to prepared workers with headroom",
          "[scheduler][head]") {
  HeadFixture cluster;
  REQUIRE(cluster.open());
  cluster.member("w", 2);
  cluster.join("not prepared").value();
  REQUIRE(cluster.issue({5, 3, 4}));
  CHECK(cluster.recorded["w"].leased == Splits{3, 4});
  CHECK(cluster.recorded["not prepared"].leased.empty());
  REQUIRE(cluster.asked(Arrived{{3}, cluster.session}));
  CHECK(cluster.recorded["w"].leased == Splits{3, 4, 5});
  CHECK(cluster.status().leased == 2);
}

TEST_CASE("what a worker uses is shown while it has the job open, and forgotten with the job",
          "[scheduler][head]") {
  HeadFixture cluster;
  REQUIRE(cluster.open());
  const std::uint64_t one = cluster.join("w").value().incarnation;
  const auto beat = [&](const JobUse& use) {
    return cluster.asked(Heartbeat{.incarnation = one, .slots = 2, .holds = {}, .use = use});
  };
  REQUIRE(beat({.requests = 9, .bytes = 900}));  // of an earlier job
  CHECK(cluster.status().nodes[0].use == JobUse{});
  REQUIRE(cluster.asked(Prepared{one, "f"}));
  constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
  REQUIRE(beat({.requests = 1, .bytes = 20, .joules = kNoNumber}));
  CHECK(cluster.status().nodes[0].use == JobUse{.requests = 1, .bytes = 20});
  REQUIRE(beat({.requests = 2, .bytes = 50, .joules = 4}));
  CHECK(cluster.status().nodes[0].use == JobUse{.requests = 2, .bytes = 50, .joules = 4});
  REQUIRE(cluster.asked(CloseJob{"job", "", cluster.session}));
  OpenJob other;
  other.job.id = "other";
  REQUIRE(cluster.open(other));
  CHECK(cluster.status().nodes[0].use == JobUse{});
}

TEST_CASE("a worker of another protocol, version or operators is refused by name",
          "[scheduler][head]") {
  HeadOptions options;
  options.version = "1.2";
  options.operators = "ops";
  HeadFixture cluster(options);
  Join right;
  right.version = "1.2";
  right.operators = "ops";
  CHECK(cluster.join("right", right));
  Join wrong = right;
  SECTION("protocol") { wrong.protocol = 7; }
  SECTION("version") { wrong.version = "1.3"; }
  SECTION("operators") { wrong.operators = "other"; }
  const auto refused = cluster.join("odd one", wrong);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Code::kInvalid);
  CHECK(refused.error().message.find("odd one") != std::string::npos);
}

TEST_CASE("a worker whose name does not fit screens and files is refused", "[scheduler][head]") {
  HeadFixture cluster;
  for (const std::string& name : {std::string(), std::string(".."), std::string("a/b"),
                                  std::string("two\nlines"), std::string(129, 'x')}) {
    INFO(name);
    const auto refused = cluster.join(name);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == Code::kInvalid);
  }
  CHECK(cluster.join(std::string(128, 'x')));
  CHECK(cluster.join("knoten-ü 7"));
}

TEST_CASE("a worker with other files is named and leased nothing", "[scheduler][head]") {
  HeadFixture cluster;
  REQUIRE(cluster.open());
  const auto incarnation = cluster.join("w").value().incarnation;
  CHECK(cluster.asked(Prepared{incarnation, "other"}).error().code == Code::kInvalid);
  REQUIRE(cluster.beat(incarnation, 4));
  REQUIRE(cluster.issue({0}));
  CHECK(cluster.recorded["w"].leased.empty());
  CHECK(cluster.says("refused: worker w finds another dataset"));
}

TEST_CASE("a worker whose work fails gets nothing more, its splits go to others",
          "[scheduler][head]") {
  HeadFixture cluster;
  REQUIRE(cluster.open());
  const auto bad = cluster.member("bad", 4);
  REQUIRE(cluster.issue({0, 1}));
  CHECK(cluster.recorded["bad"].leased == Splits{0, 1});
  cluster.member("good", 4);
  REQUIRE(cluster.asked(GiveBack{bad, {1}, "split 1: bad disk"}));
  CHECK(cluster.recorded["good"].leased == Splits{0, 1});
  CHECK(cluster.says("bad disk"));
}

TEST_CASE("a silent worker is lost after six heartbeats and may not act any more",
          "[scheduler][head]") {
  HeadFixture cluster;
  REQUIRE(cluster.open());
  const auto silent = cluster.member("silent", 4);
  REQUIRE(cluster.issue({0, 1}));
  const auto other = cluster.member("other", 4);
  cluster.pass(1250ms, {other});
  CHECK(cluster.recorded["other"].leased.empty());
  cluster.pass(250ms, {other});
  CHECK(cluster.recorded["other"].leased == Splits{0, 1});
  CHECK(cluster.recorded["other"].again == Splits{0, 1});
  CHECK(cluster.recorded["silent"].again.empty());
  CHECK(cluster.recorded["silent"].evicted == 1);
  CHECK(cluster.beat(silent, 4, {0, 1}).error().code == Code::kNotFound);
  CHECK(cluster.asked(Prepared{silent, "f"}).error().code == Code::kNotFound);
  CHECK(cluster.asked(GiveBack{silent, {0}, ""}).error().code == Code::kNotFound);
  CHECK(cluster.join("silent").value().incarnation > other);
}

/// A worker's environment, in which no split is ever made.
struct IdleSplitExecutor final : SplitExecutor, HeadFinder, SplitClientFinder {
  HeadRef found;
  std::uint64_t opening = 0;
  Splits began;

  void open(const JobShare&, std::uint64_t number) override { opening = number; }
  void begin(std::uint64_t split) override { began.push_back(split); }
  bool forget(std::uint64_t) override { return true; }
  bool begun(std::uint64_t) const override { return false; }
  std::uint32_t slots() const override { return 1; }
  Load load() override { return {}; }
  HeadRef head() override { return found; }
  SplitClientRef split_client(const std::string&) override { return {}; }
};

/// Starts a worker that finds the cluster's head.
WorkerActor::Ref start_worker(HeadFixture& cluster, IdleSplitExecutor& work,
                              WorkerOptions options) {
  work.found = cluster.head;
  options.name = "w";
  auto worker = cluster.host.spawn({.name = "worker"}, [options, &work] {
    return std::make_unique<WorkerActor>(options, work, work, work);
  });
  REQUIRE(worker.tell(BeginWorker{}));
  return worker;
}

TEST_CASE("a worker sends heartbeats as often as the head asks for", "[scheduler][head]") {
  HeadOptions options;
  options.heartbeat = 20ms;
  HeadFixture cluster(options);
  IdleSplitExecutor work;
  WorkerOptions slow;
  slow.heartbeat = 10s;
  start_worker(cluster, work, slow);
  for (int i = 0; i < 100; ++i) {
    cluster.host.advance(10ms);
    cluster.host.deliver_all();
  }
  REQUIRE(cluster.status().nodes.size() == 1);
  CHECK(cluster.status().nodes.at(0).incarnation == 1);
  CHECK(cluster.status().nodes.at(0).silent_seconds <= 0.02);
}

TEST_CASE("a failure without a split number ends the worker's part and names the worker",
          "[scheduler][head]") {
  HeadFixture cluster;
  IdleSplitExecutor work;
  REQUIRE(cluster.open());
  const auto worker = start_worker(cluster, work, {});
  cluster.host.deliver_all();
  REQUIRE(worker.tell(WorkOpened{.opening = work.opening, .fingerprint = "f"}));
  cluster.host.deliver_all();
  REQUIRE(cluster.issue({3}));
  cluster.pass(250ms);
  REQUIRE(work.began == Splits{3});
  const Error changed{Code::kCorrupt, "day_1.tsv changed"};
  for (int i = 0; i < 2; ++i) {
    REQUIRE(worker.tell(WorkFailed{work.opening, std::nullopt, changed}));
  }
  cluster.host.deliver_all();
  CHECK(cluster.says("refused: worker w: day_1.tsv changed"));
  cluster.member("other", 4);
  CHECK(cluster.recorded["other"].leased == Splits{3});
}

TEST_CASE("a refused worker gives the reason at the end of the job, and not after the next one",
          "[scheduler][worker]") {
  HeadFixture cluster;
  IdleSplitExecutor work;
  WorkerOptions options;
  std::vector<std::string> refused;
  options.on_job_ended = [&](const std::string&, const WorkerStatus& last) {
    refused.push_back(last.job + ": " + last.refused);
  };
  const auto worker = start_worker(cluster, work, options);
  const Error differs{Code::kInvalid, "day_1.tsv differs"};
  for (const auto& id : {std::string("a"), std::string("b")}) {
    OpenJob open;
    open.job = job(id);
    REQUIRE(cluster.open(std::move(open)));
    REQUIRE(worker.tell(WorkOpened{.opening = work.opening,
                                   .fingerprint = "f",
                                   .error = id == "a" ? std::optional(differs) : std::nullopt}));
    cluster.host.deliver_all();
    REQUIRE(cluster.asked(CloseJob{id, "", cluster.session}));
  }
  CHECK(refused == std::vector<std::string>{"a: day_1.tsv differs", "b: "});
}

TEST_CASE("a worker whose own options are too small leaves the head of the only job that it has",
          "[scheduler][worker]") {
  const Error too_little{Code::kOverloaded, "--memory 10MiB is too little"};
  for (const std::string client_address : {"", "10.0.0.1:4000"}) {
    CAPTURE(client_address);
    HeadFixture cluster;
    IdleSplitExecutor work;
    WorkerOptions options;
    std::vector<WorkerStatus> ended;
    options.on_ended = [&](const WorkerStatus& last) { ended.push_back(last); };
    const auto worker = start_worker(cluster, work, options);
    OpenJob open;
    open.job = job("a");
    open.split_client_address = client_address;
    REQUIRE(cluster.open(std::move(open)));
    REQUIRE(worker.tell(WorkOpened{
        .opening = work.opening, .fingerprint = "", .error = too_little, .misconfigured = true}));
    cluster.host.deliver_all();
    if (client_address.empty()) {
      REQUIRE(ended.size() == 1);
      CHECK(ended[0].refused == too_little.message);
      CHECK(ended[0].misconfigured);
      CHECK(cluster.status().nodes.empty());
    } else {
      CHECK(ended.empty());
      CHECK(cluster.says("refused: worker w: --memory 10MiB is too little"));
    }
  }
}

TEST_CASE("a head that was paused itself does not lose its workers", "[scheduler][head]") {
  HeadFixture cluster;
  REQUIRE(cluster.open());
  cluster.member("w", 4);
  cluster.host.advance(20s);
  cluster.host.deliver_all();
  CHECK(cluster.status().nodes.size() == 1);
  cluster.pass(1500ms);
  CHECK(cluster.status().nodes.empty());
}

Join process(std::uint64_t pid) {
  Join join;
  join.host = "h";
  join.pid = pid;
  return join;
}

TEST_CASE("a living worker's name is not given to another process", "[scheduler][head]") {
  std::vector<std::string> said;
  HeadOptions options;
  options.say = [&said](const std::string& line) { said.push_back(line); };
  HeadFixture cluster(options);
  REQUIRE(cluster.join("w", process(1)));
  for (int i = 0; i < 3; ++i) {
    CHECK(cluster.join("w", process(2)).error().code == Code::kOverloaded);
  }
  CHECK(std::count_if(said.begin(), said.end(), [](const std::string& line) {
          return line.starts_with("refused: a living worker");
        }) == 1);
  CHECK(cluster.join("w", process(1)).value().incarnation == 2);
  cluster.pass(750ms);
  CHECK(cluster.join("w", process(2)));
  CHECK(cluster.status().nodes.size() == 1);
}

TEST_CASE("a split that takes many times the usual is given to a second worker",
          "[scheduler][head]") {
  HeadFixture cluster;
  REQUIRE(cluster.open());
  const auto slow = cluster.member("slow", 1);
  REQUIRE(cluster.issue({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  CHECK(cluster.recorded["slow"].leased == Splits{0});
  const auto fast = cluster.member("fast", 1);
  for (std::uint64_t split = 1; split < 10; ++split) {
    REQUIRE(cluster.asked(Arrived{{split}, cluster.session}));
  }
  cluster.recorded["fast"].leased.clear();
  cluster.pass(500ms, {slow, fast});  // The others took no time: 500 ms is the least.
  CHECK(cluster.recorded["fast"].leased.empty());
  cluster.pass(250ms, {slow, fast});
  CHECK(cluster.recorded["fast"].leased == Splits{0});
  CHECK(cluster.recorded["fast"].again == Splits{0});
  REQUIRE(cluster.asked(Arrived{{0}, cluster.session}));
  CHECK(cluster.recorded["slow"].revoked == Splits{0});
  CHECK(cluster.recorded["fast"].revoked == Splits{0});
}

TEST_CASE("a worker that keeps the others waiting gets fewer splits, and they get those it has",
          "[scheduler][head]") {
  HeadFixture cluster;
  REQUIRE(cluster.open());
  const auto quick = cluster.member("quick", 8);
  REQUIRE(cluster.issue({0, 1, 2, 3, 4, 5, 6, 7}));
  for (std::uint64_t split = 0; split < 8; ++split) {
    REQUIRE(cluster.asked(Arrived{{split}, cluster.session}));
  }
  const auto slow = cluster.member("slow", 4);
  REQUIRE(cluster.issue({8, 9, 10, 11, 12, 13}));
  const Splits held = cluster.recorded["slow"].leased;
  REQUIRE(held.size() >= 2);
  for (std::uint64_t split = 8; split < 14; ++split) {
    const bool of_slow = std::ranges::find(held, split) != held.end();
    if (!of_slow) REQUIRE(cluster.asked(Arrived{{split}, cluster.session}));
  }
  cluster.recorded["quick"].leased.clear();
  cluster.pass(250ms, {quick, slow});  // the others had taken no time
  REQUIRE(cluster.asked(Arrived{{held.front()}, cluster.session}));
  CHECK_FALSE(cluster.recorded["slow"].revoked.empty());
  CHECK(cluster.recorded["quick"].leased == cluster.recorded["slow"].revoked);
  cluster.recorded["slow"].leased.clear();
  REQUIRE(cluster.issue({14, 15, 16, 17}));
  CHECK(cluster.recorded["slow"].leased.size() < held.size());
}

TEST_CASE("the splits of a job are not late by the usual time of the job before",
          "[scheduler][head]") {
  HeadFixture cluster;
  REQUIRE(cluster.open());
  const auto first = cluster.member("first", 1);
  REQUIRE(cluster.issue({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  for (std::uint64_t split = 0; split < 10; ++split) {
    REQUIRE(cluster.asked(Arrived{{split}, cluster.session}));
  }
  REQUIRE(cluster.asked(CloseJob{"a", "", cluster.session}));
  OpenJob slower;
  slower.job = job("b");
  REQUIRE(cluster.open(slower));
  const auto second = cluster.member("second", 1);
  REQUIRE(cluster.asked(Prepared{first, "f"}));
  REQUIRE(cluster.issue({0}));
  cluster.pass(2s, {first, second});
  CHECK(cluster.recorded["first"].again.empty());
  CHECK(cluster.recorded["second"].again.empty());
}

TEST_CASE("an unwanted split in a heartbeat is revoked", "[scheduler][head]") {
  HeadFixture cluster;
  REQUIRE(cluster.open());
  const auto worker = cluster.member("w", 1);
  REQUIRE(cluster.issue({0, 1}));
  REQUIRE(cluster.beat(worker, 1, {0, 1, 7}));
  CHECK(cluster.recorded["w"].revoked == Splits{7});
  CHECK(cluster.status().leased == 2);  // The worker has 1 in work, so it gets the lease.
}

TEST_CASE("messages of an earlier opening of the job change nothing", "[scheduler][head]") {
  HeadFixture cluster;
  REQUIRE(cluster.open());
  const std::uint64_t before = cluster.session;
  REQUIRE(cluster.open());
  CHECK(cluster.session > before);
  CHECK(cluster.asked(Issue{{0}, before}).error().code == Code::kNotFound);
  CHECK(cluster.asked(Finished{5, {}, before}).error().code == Code::kNotFound);
  CHECK(cluster.asked(CloseJob{"a", "", before}).error().code == Code::kNotFound);
  CHECK(cluster.status().finished == 0);
  CHECK(cluster.status().waiting == 0);
}

TEST_CASE("a resume cuts the store back to the trainer's position", "[scheduler][head]") {
  HeadFixture cluster;
  REQUIRE(cluster.open());
  REQUIRE(cluster.asked(Finished{8, {}, cluster.session}));
  OpenJob again;
  again.job = job();
  again.finished_below = 5;
  REQUIRE(cluster.open(again));
  CHECK(cluster.status().finished == 5);
  cluster.member("w", 9);
  REQUIRE(cluster.issue({4, 5, 6}));
  CHECK(cluster.recorded["w"].leased == Splits{5, 6});
}

TEST_CASE("a restarted head knows the job and finished splits, the split client adds the rest",
          "[scheduler][head]") {
  HeadFixture cluster;
  REQUIRE(cluster.open());
  const auto before = cluster.member("w", 4);
  REQUIRE(cluster.issue({0, 1, 2, 3}));
  REQUIRE(cluster.asked(Finished{1, {}, cluster.session}));
  cluster.recorded["w"].leased.clear();
  cluster.restart();
  CHECK_FALSE(cluster.says("worker w has not come back"));  // It may still come back.
  cluster.pass(2s);
  CHECK(cluster.says("worker w has not come back"));
  CHECK(cluster.status().finished == 1);
  CHECK(cluster.issue({4}).error().code == Code::kNotFound);
  OpenJob again;
  again.job = job();
  again.finished_below = 1;
  again.issued = {{1, 3}};
  again.arrived = {2};
  REQUIRE(cluster.open(again));
  const auto after = cluster.member("w", 4);
  CHECK(after > before);
  CHECK(cluster.recorded["w"].leased == Splits{1, 3});
}

TEST_CASE("a restarted head leaves workers the splits that they hold", "[scheduler][head]") {
  HeadFixture cluster;
  REQUIRE(cluster.open());
  cluster.member("w", 4);
  REQUIRE(cluster.issue({0, 1, 2}));
  cluster.recorded["w"].leased.clear();
  cluster.restart();
  Join holder;
  holder.holds = {0, 1};
  const auto incarnation = cluster.join("w", holder).value().incarnation;
  REQUIRE(cluster.beat(incarnation, 4, {0, 1}));
  CHECK(cluster.recorded["w"].revoked.empty());  // The trainer has not come back yet.
  cluster.member("v", 4);
  OpenJob again;
  again.job = job();
  again.issued = {{0, 2}};
  again.arrived = {1};
  REQUIRE(cluster.open(again));
  REQUIRE(cluster.asked(Prepared{incarnation, "f"}));
  CHECK(cluster.recorded["w"].leased.empty());
  CHECK(cluster.recorded["v"].leased == Splits{2});
  REQUIRE(cluster.beat(incarnation, 4, {0, 1}));
  CHECK(cluster.recorded["w"].revoked == Splits{1});
}

TEST_CASE("a second job waits for the end of the first", "[scheduler][head]") {
  HeadFixture cluster;
  REQUIRE(cluster.open());
  const auto worker = cluster.member("w", 4);
  OpenJob other;
  other.job = job("b");
  CHECK(cluster.open(other).error().code == Code::kOverloaded);
  REQUIRE(cluster.asked(CloseJob{"a", "no room", cluster.session}));
  CHECK(cluster.recorded["w"].ended == std::vector<std::string>{"no room"});
  REQUIRE(cluster.open(other));
  REQUIRE(cluster.recorded["w"].offers.size() == 1);
  CHECK(cluster.recorded["w"].offers.back().job.id == "b");
  REQUIRE(cluster.issue({0}));
  CHECK(cluster.recorded["w"].leased.empty());
  REQUIRE(cluster.asked(Prepared{worker, "f"}));
  CHECK(cluster.recorded["w"].leased == Splits{0});
}

TEST_CASE("a job whose trainer is out of reach keeps its place for as long as the head waits",
          "[scheduler][head]") {
  HeadFixture cluster;
  REQUIRE(cluster.open());
  const auto trainer = std::exchange(cluster.split_client, cluster.probe(cluster.recorded["b"]));
  trainer.stop();
  cluster.host.deliver_all();
  OpenJob other;
  other.job = job("b");
  other.job.folder = "/elsewhere";
  const std::string waits =
      "the head waits 60 s for the trainer of job a, which is out of reach, and takes one job at "
      "a time";
  CHECK(cluster.open(other).error().message == waits);
  SECTION("a job of the same folder with other data waits, too") {
    other.job.folder.clear();
    other.job.fingerprint = "g";
    CHECK(cluster.open(other).error().code == Code::kOverloaded);
  }
  SECTION("also after a restart of the head") {
    cluster.restart();
    CHECK(cluster.open(other).error().message == waits);
  }
  SECTION("its trainer comes back") {
    REQUIRE(cluster.open());
    CHECK(cluster.open(other).error().message.ends_with("wait until it has ended"));
  }
  SECTION("it does not come back") {
    cluster.pass(61s);
    CHECK(cluster.open(other));
  }
}

TEST_CASE("a later run of a job takes the place of its dead trainer at once", "[scheduler][head]") {
  HeadFixture cluster;
  REQUIRE(cluster.open());
  const auto trainer = std::exchange(cluster.split_client, cluster.probe(cluster.recorded["b"]));
  OpenJob later;
  later.job = job("b");
  CHECK(cluster.open(later).error().code == Code::kOverloaded);
  trainer.stop();
  cluster.host.deliver_all();
  CHECK(cluster.open(later));
}

TEST_CASE("a head in a trainer's process does not wait for the trainer of before",
          "[scheduler][head]") {
  HeadFixture cluster;
  REQUIRE(cluster.open());
  HeadOptions options;
  options.trainer_pid = 7;
  cluster.restart(options);
  OpenJob edited;
  edited.job = job("b");
  edited.job.fingerprint = "g";
  CHECK(cluster.open(edited));
}

TEST_CASE("the time in which a head was paused is not that of its lost trainer",
          "[scheduler][head]") {
  HeadFixture cluster;
  REQUIRE(cluster.open());
  cluster.split_client.stop();
  cluster.host.deliver_all();
  cluster.host.advance(10min);
  cluster.pass(30s);
  CHECK(cluster.status().job == "a");
  cluster.pass(31s);
  CHECK(cluster.status().job.empty());
}

TEST_CASE("workers that end with their job are not lost, and the next job does not hear of them",
          "[scheduler][head]") {
  std::vector<std::string> said;
  HeadOptions options;
  options.say = [&](const std::string& sentence) { said.push_back(sentence); };
  HeadFixture cluster(options);
  REQUIRE(cluster.open());
  const auto worker = cluster.probe(cluster.recorded["w"]);
  Join join;
  join.name = "w";
  join.worker = worker;
  REQUIRE(cluster.asked(std::move(join)));
  REQUIRE(cluster.asked(CloseJob{"a", "", cluster.session}));
  worker.stop();
  cluster.host.deliver_all();
  CHECK(said.back() == "worker w has left: its connection has ended");
  OpenJob next;
  next.job = job("b");
  REQUIRE(cluster.open(std::move(next)));
  cluster.pass(2s);
  CHECK(cluster.says("no worker has joined"));
  CHECK_FALSE(cluster.says("worker w"));
}

TEST_CASE("a worker that joins again after its job's end is told of the end", "[scheduler][head]") {
  HeadFixture cluster;
  REQUIRE(cluster.open());
  cluster.member("w", 2);
  cluster.pass(2s);  // Silent for six heartbeats: lost.
  CHECK(cluster.recorded["w"].evicted == 1);
  SECTION("an end without an error") {
    REQUIRE(cluster.asked(CloseJob{"a", "", cluster.session}));
    CHECK(cluster.recorded["w"].ended.empty());
    cluster.join_with("w", "a");
    CHECK(cluster.recorded["w"].ended == std::vector<std::string>{""});
  }
  SECTION("an end with an error") {
    REQUIRE(cluster.asked(CloseJob{"a", "disk full", cluster.session}));
    cluster.join_with("w", "a");
    CHECK(cluster.recorded["w"].ended == std::vector<std::string>{"disk full"});
  }
  SECTION("not while its job is open, and not for a job that this head does not know") {
    cluster.join_with("w", "a");
    REQUIRE(cluster.asked(CloseJob{"a", "", cluster.session}));
    cluster.recorded["w"].ended.clear();
    cluster.join("new").value();
    cluster.join_with("other", "b");
    CHECK(cluster.recorded["new"].ended.empty());
    CHECK(cluster.recorded["other"].ended.empty());
  }
}

TEST_CASE("a worker that was out of reach when its job ended ends when it joins again",
          "[scheduler][worker]") {
  HeadFixture cluster;
  IdleSplitExecutor work;
  REQUIRE(cluster.open());
  WorkerOptions options;
  std::vector<std::string> ended;
  options.on_job_ended = [&](const std::string&, const WorkerStatus& last) {
    ended.push_back(last.job);
  };
  const auto worker = start_worker(cluster, work, options);
  cluster.host.deliver_all();
  REQUIRE(cluster.status().nodes.size() == 1);
  work.found = {};
  REQUIRE(worker.tell(Evicted{1, "silent"}));
  cluster.pass(2s);
  REQUIRE(cluster.status().nodes.empty());
  REQUIRE(cluster.asked(CloseJob{"a", "", cluster.session}));
  CHECK(ended.empty());
  work.found = cluster.head;
  cluster.pass(1s);
  CHECK(ended == std::vector<std::string>{"a"});
}

TEST_CASE("a job whose trainer does not come back is closed", "[scheduler][head]") {
  HeadFixture cluster;
  REQUIRE(cluster.open());
  const auto worker = cluster.member("w", 4);
  cluster.split_client.stop();
  cluster.host.deliver_all();
  cluster.pass(5s, {worker});
  CHECK(cluster.says("out of reach for 5."));
  cluster.pass(55s, {worker});
  REQUIRE(cluster.recorded["w"].ended.size() == 1);
  CHECK(cluster.status().job.empty());
}

TEST_CASE("a worker that did not get the job's offer gets it again", "[scheduler][head]") {
  HeadFixture cluster;
  const std::uint64_t worker = cluster.join("w").value().incarnation;
  REQUIRE(cluster.open());
  const auto offered = [&cluster] { return cluster.recorded["w"].offers.size(); };
  REQUIRE(offered() == 1);
  cluster.pass(1s, {worker});
  CHECK(offered() == 1);
  cluster.pass(1s, {worker});
  CHECK(offered() == 2);
  REQUIRE(cluster.asked(Prepared{worker, "f"}));
  cluster.pass(4s, {worker});
  CHECK(offered() == 2);
}

TEST_CASE("nothing is leased before min_workers are there", "[scheduler][head]") {
  HeadFixture cluster;
  OpenJob open;
  open.min_workers = 2;
  REQUIRE(cluster.open(open));
  const auto one = cluster.member("one", 4);
  REQUIRE(cluster.issue({0, 1}));
  CHECK(cluster.recorded["one"].leased.empty());
  CHECK(cluster.says("waits for 2 nodes, 1 of them ready"));
  const auto two = cluster.member("two", 4);
  CHECK(cluster.status().leased == 2);

  SECTION("nor of the next job") {
    REQUIRE(cluster.asked(Leave{two}));
    REQUIRE(cluster.asked(CloseJob{"a", "", cluster.session}));
    open.job = job("b");
    REQUIRE(cluster.open(open));
    REQUIRE(cluster.asked(Prepared{one, "f"}));
    REQUIRE(cluster.issue({0, 1}));
    CHECK(cluster.says("waits for 2 nodes, 1 of them ready"));
    CHECK(cluster.status().leased == 0);
  }
  SECTION("but of one that had begun when the head died") {
    open.issued = {{0, 1}};
    open.arrived = {0};
    cluster.restart();
    REQUIRE(cluster.open(open));
    cluster.member("one", 4);
    CHECK(cluster.status().leased == 1);
  }
}

TEST_CASE("a head reports why no split is made", "[scheduler][head]") {
  HeadFixture cluster;
  CHECK(cluster.status().problems.empty());
  REQUIRE(cluster.open());
  CHECK(cluster.says("no worker has joined yet"));
  const auto worker = cluster.join("w").value().incarnation;
  CHECK(cluster.says("opening the job's files"));
  REQUIRE(cluster.asked(Leave{worker}));
  CHECK(cluster.says("no worker is left, worker w has left"));
}

TEST_CASE("learned state is kept for the next run", "[scheduler][head]") {
  HeadFixture cluster;
  CHECK(cluster.asked(FindLearnedState{"intune"}).error().code == Code::kNotFound);
  REQUIRE(cluster.asked(SaveLearnedState{"intune", "weights"}));
  cluster.start({});
  CHECK(cluster.asked(FindLearnedState{"intune"}).value() == "weights");
}

TEST_CASE("a head keeps a bounded number of learned states, the newest among them",
          "[scheduler][head]") {
  HeadFixture cluster;
  for (std::size_t i = 0; i <= HeadState::kMostLearnedStates; ++i) {
    REQUIRE(cluster.asked(SaveLearnedState{std::to_string(1000 - i), "weights"}));
  }
  CHECK(cluster.asked(FindLearnedState{"744"}));  // 1000 - 256, the last one
  CHECK_FALSE(cluster.asked(FindLearnedState{"1000"}));
  CHECK(cluster.asked(FindLearnedState{"999"}));
}

}  // namespace
}  // namespace forebay::scheduler
