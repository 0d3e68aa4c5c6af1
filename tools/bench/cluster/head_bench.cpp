#include <future>
#include <memory>
#include <utility>

#include "core/base/check.h"
#include "core/base/clock.h"
#include "core/runtime/actor_host.h"
#include "core/store/rocks_store.h"
#include "core/store/store.h"
#include "scheduler/head/head_actor.h"
#include "tools/bench/bench.h"
#include "tools/bench/bench_setup.h"

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

/// Returns the splits a second that a head leases to `workers` workers while the trainer's node
/// accepts them at once.
double leases_per_second(std::uint64_t workers) {
  constexpr std::uint64_t kSplits = 300'000;
  const SystemClock clock;
  MemoryStore store;
  auto journal =
      std::make_shared<HeadActor::Journal>(std::move(*HeadActor::Journal::open(store, {})));
  std::promise<void> done;
  ActorSystem system({.executor = {}, .on_unheard = {}}, clock);
  const HeadActor::Ref head = system.spawn({.name = "head", .mailbox_bytes = 64 << 20}, [&journal] {
    return std::make_unique<HeadActor>(journal, HeadOptions{});
  });
  FOREBAY_CHECK(head.tell(BeginHead{}));
  const std::uint64_t window = 2 * kSlots * workers;
  const StubSplitClient::Ref split_client =
      system.spawn({.name = "feed", .mailbox_bytes = 64 << 20},
                   [&] { return std::make_unique<StubSplitClient>(head, kSplits, window, done); });
  for (std::uint64_t number = 0; number < workers; ++number) {
    const StubWorker::Ref worker = system.spawn({.name = "worker"}, [&head, &split_client, number] {
      return std::make_unique<StubWorker>(head, split_client, number);
    });
    FOREBAY_CHECK(worker.tell(Begin{}));
  }
  const Stopwatch watch;
  FOREBAY_CHECK(split_client.tell(Begin{}));
  done.get_future().wait();
  const double took = watch.seconds();
  system.shutdown(ActorHost::Stop::kNow);
  return static_cast<double>(kSplits) / took;
}

/// Returns the seconds to open a head's store with a million finished splits. Every second split is
/// finished, so that each is a range of its own: the worst case.
Result<double> store_recovery_seconds() {
  constexpr std::uint64_t kFinished = 1'000'000;
  auto folder = BenchFolder::make();
  if (!folder) return pass(folder);
  const std::string path = folder->path() + "/store";
  if (auto written = write_store(path, kFinished); !written) return pass(written);
  const Stopwatch watch;
  auto store = RocksStore::open(path);
  if (!store) return pass(store);
  auto journal = Journaled<HeadState>::open(**store);
  if (!journal) return pass(journal);
  const double took = watch.seconds();
  FOREBAY_CHECK(journal->state().finished().size() == kFinished);
  return took;
}

}  // namespace
}  // namespace forebay::scheduler

namespace forebay {

BenchResults bench_head(const BenchOptions&) {
  constexpr double kLeasesAim = 100'000;
  constexpr double kRecoveryAim = 0.2;
  const double hundred = scheduler::leases_per_second(100);
  const double thousand = scheduler::leases_per_second(1000);
  auto recovery = scheduler::store_recovery_seconds();
  if (!recovery) return pass(recovery);
  return std::vector<BenchResult>{
      BenchResult::over("head_leases", hundred, "splits/s", kLeasesAim),
      {"head_leases_1000", thousand, "splits/s"},
      BenchResult::under("store_recovery", *recovery, "s", kRecoveryAim)};
}

}  // namespace forebay
