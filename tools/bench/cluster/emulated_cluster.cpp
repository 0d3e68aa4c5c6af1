#include "tools/bench/cluster/emulated_cluster.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/base/random.h"
#include "core/runtime/ask.h"
#include "engine/cluster/head_location.h"
#include "engine/cluster/head_node.h"
#include "engine/cluster/split_client.h"
#include "scheduler/worker/worker_actor.h"

namespace forebay::scheduler {
namespace {

constexpr const char* kLoopback = "127.0.0.1:0";
constexpr std::uint64_t kManySplits = std::uint64_t{1} << 32;

struct Employ {
  static constexpr std::string_view kTag = "bench.employ/1";
  WorkResults worker;
};
struct OpenAs {
  static constexpr std::string_view kTag = "bench.open_as/1";
  std::uint64_t opening = 0;
};
struct MakeSplit {
  static constexpr std::string_view kTag = "bench.make_split/1";
  std::uint64_t split = 0;
};
struct SplitMade {
  static constexpr std::string_view kTag = "bench.split_made/1";
  std::uint64_t split = 0;
};

/// Virtual CPUs, which exist only as times: each split goes to the CPU that is free first.
///
/// A CPU is free again at the time its split was due, even if a busy machine's timer fires late.
class VirtualCpus final : public ActorOf<VirtualCpus, Employ, OpenAs, MakeSplit, SplitMade> {
 public:
  using Time = std::chrono::nanoseconds;

  VirtualCpus(std::uint32_t cpus, Time split) : free_(cpus, Time(0)), split_(split) {}

  Status on(const Employ& employ, Context&) {
    worker_ = employ.worker;
    return {};
  }
  Status on(const OpenAs& open, Context&) {
    opening_ = open.opening;
    return worker_.tell(
        WorkOpened{.opening = opening_, .fingerprint = "emulated", .error = std::nullopt});
  }
  Status on(const MakeSplit& make, Context& context) {
    const Time now = context.clock().now();
    const auto cpu = std::min_element(free_.begin(), free_.end());
    *cpu = std::max(*cpu, now) + time_of(make.split);
    context.after(*cpu - now, SplitMade{make.split});
    return {};
  }
  Status on(const SplitMade& made, Context&) {
    return worker_.tell(WorkDone{.opening = opening_, .split = made.split, .frames = frame_});
  }

 private:
  // From 3/4 to 5/4 of the mean, determined by the split's number, so it is the same on every node.
  Time time_of(std::uint64_t split) const {
    return split_ * 3 / 4 + split_ / 2 * static_cast<int>(mix64(split) % 1024) / 1024;
  }

  std::vector<Time> free_;
  const Time split_;
  WorkResults worker_;
  std::uint64_t opening_ = 0;
  const Frames frame_ = {[] {
    auto bytes = std::make_shared<std::vector<std::byte>>(64);
    return Frame(bytes, bytes->data(), bytes->size());
  }()};
};

using CpusRef = ActorRef<Employ, OpenAs, MakeSplit>;

/// Runs a worker's splits on its virtual CPUs.
class EmulatedSplitExecutor final : public SplitExecutor {
 public:
  EmulatedSplitExecutor(CpusRef cpus, std::uint32_t slots,
                        std::function<void(std::uint64_t)> on_begin)
      : cpus_(std::move(cpus)), slots_(slots), on_begin_(std::move(on_begin)) {}

  void open(const JobShare&, std::uint64_t opening) override {
    static_cast<void>(cpus_.tell(OpenAs{opening}));
  }
  void begin(std::uint64_t split) override {
    if (on_begin_) on_begin_(split);
    static_cast<void>(cpus_.tell(MakeSplit{split}));
  }
  bool forget(std::uint64_t) override { return false; }
  bool begun(std::uint64_t) const override { return true; }
  std::uint32_t slots() const override { return slots_; }
  Load load() override { return {}; }

 private:
  const CpusRef cpus_;
  const std::uint32_t slots_;
  const std::function<void(std::uint64_t)> on_begin_;
};

}  // namespace

Result<std::unique_ptr<CountingTrainer>> CountingTrainer::make(const Options& options,
                                                               const Clock& clock) {
  auto trainer = std::unique_ptr<CountingTrainer>(new CountingTrainer(options, clock));  // NOLINT
  auto net = NetworkEndpoint::make({}, clock);
  if (!net) return pass(net);
  trainer->net_ = std::move(*net);
  auto head = start_head(*trainer->net_, trainer->store_, {});
  if (!head) return pass(head);
  trainer->head_ = *head;
  trainer->head_status_ = *head;
  if (auto status = trainer->start_split_client(); !status) return pass(status);
  auto address = trainer->net_->listen(kLoopback);
  if (!address) return pass(address);
  trainer->address_ = *address;
  return trainer;
}

Status CountingTrainer::start_split_client() {
  SplitClientOptions options;
  options.min_workers = options_.workers;
  options.job = {.id = "emulated",
                 .text = "",
                 .fingerprint = "emulated",
                 .splits_per_epoch = options_.splits == 0 ? kManySplits : options_.splits,
                 .epochs = 1};
  split_client_ = host_split_client(*net_, options, *this, *this);
  issue_more();
  return split_client_.tell(BeginSplitClient{});
}

void CountingTrainer::issue_more() {
  const std::uint64_t most = options_.splits == 0 ? kManySplits : options_.splits;
  const std::uint64_t end = std::min(most, arrived_.lowest_missing() + options_.window);
  IssueSplits issue;
  while (next_ < end) issue.splits.push_back(next_++);
  if (!issue.splits.empty()) static_cast<void>(split_client_.tell(std::move(issue)));
}

Result<bool> CountingTrainer::arrived(std::uint64_t split, const std::string&, Frames) {
  const std::uint64_t lowest_before = arrived_.lowest_missing();
  arrived_.add(split, split);
  const std::uint64_t count = arrived_.size();
  if (count == options_.warm_up) start_ = clock_.now();
  if (count == options_.warm_up + options_.measured) {
    done_.set_value(in_seconds(clock_.now() - start_));
  }
  if (arrived_.lowest_missing() == lowest_before) return true;
  issue_more();
  Position position;
  position.split = arrived_.lowest_missing();
  static_cast<void>(split_client_.tell(Trained{position}));
  return true;
}

Result<ClusterStatus> CountingTrainer::status() const {
  return ask(head_status_, QueryCluster{}, std::chrono::seconds(10)).wait();
}

std::optional<double> CountingTrainer::wait(std::chrono::seconds timeout) {
  auto future = done_.get_future();
  if (future.wait_for(timeout) != std::future_status::ready) return std::nullopt;
  return future.get();
}

std::uint32_t EmulatedNode::slots(std::uint32_t cpus) {
  constexpr std::uint32_t kStages = 4;
  constexpr std::uint32_t kOnTheWay = 16;
  constexpr std::uint32_t kReady = 2;
  return cpus + kStages + kOnTheWay + kReady;
}

Result<std::unique_ptr<EmulatedNode>> EmulatedNode::make(Options options, const Clock& clock) {
  auto node = std::unique_ptr<EmulatedNode>(new EmulatedNode(std::move(options)));  // NOLINT
  const Options& given = node->options_;
  auto net = NetworkEndpoint::make({}, clock);
  if (!net) return pass(net);
  node->net_ = std::move(*net);
  if (auto status = node->net_->connect(given.join); !status) return pass(status);
  const auto cpus = node->net_->actors().spawn(
      {.name = "cpus", .mailbox_bytes = kNetMailbox},
      [&given] { return std::make_unique<VirtualCpus>(given.cpus, given.split); });
  node->work_ = std::make_unique<EmulatedSplitExecutor>(cpus, slots(given.cpus), given.on_begin);
  WorkerOptions worker_options = worker_here(given.name);
  worker_options.host = given.name;
  worker_options.cpus = given.cpus;
  HeadFinder& heads = *node;
  SplitClientFinder& split_clients = *node;
  SplitExecutor& work = *node->work_;
  const auto worker = node->net_->actors().spawn(
      {.name = "worker", .mailbox_bytes = kNetMailbox, .placement = Placement::kOwnThread},
      [worker_options, &work, &heads, &split_clients] {
        return std::make_unique<WorkerActor>(worker_options, work, heads, split_clients);
      });
  if (auto status = cpus.tell(Employ{worker}); !status) return pass(status);
  if (auto status = worker.tell(BeginWorker{}); !status) return pass(status);
  return node;
}

HeadRef EmulatedNode::head() { return net_->actor<HeadRef>(options_.join, kHeadName); }

SplitClientRef EmulatedNode::split_client(const std::string&) {
  return net_->actor<SplitClientRef>(options_.join, kSplitClientName);
}

}  // namespace forebay::scheduler
