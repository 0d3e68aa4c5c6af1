#include "tools/bench/cluster/head_bench.h"

#include <future>
#include <memory>
#include <utility>

#include "core/base/check.h"
#include "core/base/clock.h"
#include "core/runtime/actor_host.h"
#include "core/store/rocks_store.h"
#include "core/store/store.h"
#include "scheduler/head/head_actor.h"

namespace forebay::scheduler {
namespace {

constexpr std::chrono::nanoseconds kTimeout = std::chrono::seconds(30);
constexpr std::uint32_t kSlots = 16;

struct Begin {
  static constexpr std::string_view kTag = "bench.begin/1";
};
struct Beat {
  static constexpr std::string_view kTag = "bench.beat/1";
};

/// Worker → split client: replaces Ready, Pull and Deliver of these splits.
struct Made {
  static constexpr std::string_view kTag = "bench.made/1";
  std::vector<std::uint64_t> splits;
};

/// Keeps a window of splits issued and reports each delivered split as arrived.
class StubSplitClient final
    : public ActorOf<StubSplitClient, Ready, Deliver, HandedOn, Begin, Made, Answered<OpenJob>,
                     Answered<Issue>, Answered<Arrived>> {
 public:
  StubSplitClient(HeadRef head, std::uint64_t splits, std::uint64_t window,
                  std::promise<void>& done)
      : head_(std::move(head)), splits_(splits), window_(window), done_(done) {}

  Status on(const Ready&, Context&) { return {}; }
  Status on(const Deliver&, Context&) { return {}; }
  Status on(const HandedOn&, Context&) { return {}; }
  Status on(const Begin&, Context& context) {
    OpenJob open;
    open.job = {
        .id = "bench", .text = "", .fingerprint = "", .splits_per_epoch = splits_, .epochs = 1};
    open.split_client = self(context);
    context.ask(head_, std::move(open), kTimeout, self(context));
    return {};
  }
  Status on(const Answered<OpenJob>& answer, Context& context) {
    FOREBAY_CHECK(answer.result.has_value());
    session_ = answer.result->session;
    issue(context);
    return {};
  }
  Status on(const Made& made, Context& context) {
    arrived_.insert(arrived_.end(), made.splits.begin(), made.splits.end());
    say_arrived(context);
    return {};
  }
  Status on(const Answered<Issue>&, Context& context) {
    issuing_ = false;
    issue(context);
    return {};
  }
  Status on(const Answered<Arrived>&, Context& context) {
    saying_ = false;
    if (num_arrived_ == splits_) done_.set_value();
    say_arrived(context);
    issue(context);
    return {};
  }

 private:
  void issue(Context& context) {
    Issue issue{.splits = {}, .session = session_};
    while (!issuing_ && next_ < splits_ && next_ < num_arrived_ + window_) {
      issue.splits.push_back(next_++);
    }
    if (issue.splits.empty()) return;
    issuing_ = true;
    context.ask(head_, std::move(issue), kTimeout, self(context));
  }
  void say_arrived(Context& context) {
    if (saying_ || arrived_.empty()) return;
    saying_ = true;
    num_arrived_ += arrived_.size();
    context.ask(head_, Arrived{std::exchange(arrived_, {}), session_}, kTimeout, self(context));
  }

  const HeadRef head_;
  const std::uint64_t splits_;
  const std::uint64_t window_;
  std::promise<void>& done_;
  std::uint64_t session_ = 0;
  std::uint64_t next_ = 0;
  std::uint64_t num_arrived_ = 0;
  std::vector<std::uint64_t> arrived_;
  bool issuing_ = false;
  bool saying_ = false;
};

/// A worker that makes splits in no time.
class StubWorker final
    : public ActorOf<StubWorker, Lease, Revoke, JobEnded, Evicted, JobOffer, Begin, Beat,
                     Answered<Join>, Answered<Prepared>, Answered<Heartbeat>> {
 public:
  StubWorker(HeadRef head, ActorRef<Made> split_client, std::uint64_t number)
      : head_(std::move(head)), split_client_(std::move(split_client)), number_(number) {}

  Status on(const Begin&, Context& context) {
    Join join;
    join.name = std::to_string(number_);
    join.worker = self(context);
    context.ask(head_, std::move(join), kTimeout, self(context));
    return {};
  }
  Status on(const Answered<Join>& answer, Context& context) {
    FOREBAY_CHECK(answer.result.has_value());
    incarnation_ = answer.result->incarnation;
    return prepare(context);
  }
  Status on(const JobOffer&, Context& context) { return prepare(context); }
  Status on(const Answered<Prepared>& answer, Context& context) {
    if (!answer.result) return {};  // There is no job yet; it will be offered.
    return on(Beat{}, context);
  }
  Status on(const Beat&, Context& context) {
    context.ask(head_, Heartbeat{.incarnation = incarnation_, .slots = kSlots, .holds = {}},
                kTimeout, self(context));
    context.after(std::chrono::milliseconds(250), Beat{});
    return {};
  }
  Status on(const Lease& lease, Context&) { return split_client_.tell(Made{lease.splits}); }
  Status on(const Answered<Heartbeat>&, Context&) { return {}; }
  Status on(const Revoke&, Context&) { return {}; }
  Status on(const JobEnded&, Context&) { return {}; }
  Status on(const Evicted&, Context&) { return {}; }

 private:
  Status prepare(Context& context) {
    context.ask(head_, Prepared{incarnation_, ""}, kTimeout, self(context));
    return {};
  }

  const HeadRef head_;
  const ActorRef<Made> split_client_;
  const std::uint64_t number_;
  std::uint64_t incarnation_ = 0;
};

/// Writes a store in which every second split is finished, `finished` in all.
Status write_store(const std::string& folder, std::uint64_t finished) {
  auto store = RocksStore::open(folder);
  if (!store) return pass(store);
  auto journal = Journaled<HeadState>::open(**store);
  if (!journal) return pass(journal);
  const JobShare job{.id = "bench",
                     .text = "",
                     .fingerprint = "",
                     .splits_per_epoch = 2 * finished + 1,
                     .epochs = 1};
  if (auto status = journal->commit(JobOpening{job, 1, 0, {}}); !status) return status;
  constexpr std::uint64_t kInEvent = 64;
  constexpr std::uint64_t kInGroup = 64;  // Events per sync.
  std::uint64_t recorded = 0;
  for (std::uint64_t next = 0; next < finished;) {
    SplitsFinished event{.session = 1, .below = 0, .ranges = {}};
    event.ranges.reserve(kInEvent);
    for (; event.ranges.size() < kInEvent && next < finished; ++next) {
      event.ranges.push_back({2 * next + 1, 2 * next + 1});
    }
    journal->record(event);
    if (++recorded % kInGroup != 0) continue;
    if (auto status = journal->flush(); !status) return status;
  }
  return journal->flush();
}

}  // namespace
}  // namespace forebay::scheduler

namespace forebay {

double leases_per_second(std::uint64_t workers, std::uint64_t splits, const Clock& clock) {
  MemoryStore store;
  auto journal = std::make_shared<scheduler::HeadActor::Journal>(
      std::move(*scheduler::HeadActor::Journal::open(store, {})));
  std::promise<void> done;
  ActorSystem system({.executor = {}, .on_unheard = {}}, clock);
  const scheduler::HeadActor::Ref head =
      system.spawn({.name = "head", .mailbox_bytes = 64 << 20}, [&journal] {
        return std::make_unique<scheduler::HeadActor>(journal, scheduler::HeadOptions{});
      });
  FOREBAY_CHECK(head.tell(scheduler::BeginHead{}));
  const std::uint64_t window = 2 * scheduler::kSlots * workers;
  const scheduler::StubSplitClient::Ref split_client = system.spawn(
      {.name = "feed", .mailbox_bytes = 64 << 20},
      [&] { return std::make_unique<scheduler::StubSplitClient>(head, splits, window, done); });
  for (std::uint64_t number = 0; number < workers; ++number) {
    const scheduler::StubWorker::Ref worker =
        system.spawn({.name = "worker"}, [&head, &split_client, number] {
          return std::make_unique<scheduler::StubWorker>(head, split_client, number);
        });
    FOREBAY_CHECK(worker.tell(scheduler::Begin{}));
  }
  const auto start = clock.now();
  FOREBAY_CHECK(split_client.tell(scheduler::Begin{}));
  done.get_future().wait();
  const double took = in_seconds(clock.now() - start);
  system.shutdown(ActorHost::Stop::kNow);
  return static_cast<double>(splits) / took;
}

Result<double> store_recovery_seconds(std::uint64_t finished, const Clock& clock) {
  auto folder = BenchFolder::make();
  if (!folder) return pass(folder);
  const std::string path = folder->path() + "/store";
  if (auto written = scheduler::write_store(path, finished); !written) return pass(written);
  const auto start = clock.now();
  auto store = RocksStore::open(path);
  if (!store) return pass(store);
  auto journal = Journaled<scheduler::HeadState>::open(**store);
  if (!journal) return pass(journal);
  const double took = in_seconds(clock.now() - start);
  FOREBAY_CHECK(journal->state().finished().size() == finished);
  return took;
}

Result<std::vector<BenchResult>> run_head_bench(const HeadBenchOptions& options,
                                                const Clock& clock) {
  constexpr double kLeasesAim = 100'000;
  constexpr double kRecoveryAim = 0.2;
  const double hundred = leases_per_second(100, options.splits, clock);
  const double thousand = leases_per_second(1000, options.splits, clock);
  auto recovery = store_recovery_seconds(options.finished, clock);
  if (!recovery) return pass(recovery);
  return std::vector<BenchResult>{
      {"head_leases", hundred, "splits/s", kLeasesAim, hundred / kLeasesAim},
      {"head_leases_1000", thousand, "splits/s", std::nullopt, std::nullopt},
      {"store_recovery", *recovery, "s", kRecoveryAim, kRecoveryAim / *recovery}};
}

}  // namespace forebay
