#include "tests/scheduler/sim_process.h"

#include <utility>

namespace forebay::scheduler {
namespace {

constexpr const char* kHeadAddress = "head";
constexpr const char* kTrainerAddress = "trainer";

WorkerOptions worker_options(const std::string& name, std::uint64_t pid) {
  WorkerOptions options;
  options.name = name;
  options.host = "host of " + name;
  options.pid = pid;
  return options;
}

}  // namespace

HeadRef SimProcess::head() {
  if (head_here.receiver() != nullptr) return head_here;
  const PeerId peer = transport.peer_at(kHeadAddress);
  if (peer != PeerId::kNone) return node.actor<HeadRef>(peer, kHeadName);
  static_cast<void>(transport.connect(kHeadAddress));
  return {};
}

SplitClientRef SimProcess::split_client(const std::string& address) {
  if (split_client_here.receiver() != nullptr) return split_client_here;
  const std::string& where = address.empty() ? kHeadAddress : address;
  const PeerId peer = transport.peer_at(where);
  if (peer != PeerId::kNone) return node.actor<SplitClientRef>(peer, kSplitClientName);
  static_cast<void>(transport.connect(where));
  return {};
}

void SimProcess::pass(Time by) {
  missed_ += by;
  if (!frozen()) host.advance(std::exchange(missed_, Time{}));
}

void SimProcess::kill() {
  transport.die();
  host.host().stop_all(ActorHost::Stop::kNow);
  host.deliver_all();
}

SimHead SimHead::start(SimProcess& process, test::SimDisk& disk) {
  SimHead head;
  auto opened = HeadActor::Journal::open(disk, {.snapshot_every = 16});
  FOREBAY_CHECK(opened.has_value());
  head.journal = std::make_shared<HeadActor::Journal>(std::move(*opened));
  head.ref = process.host.spawn({.name = "head", .mailbox_bytes = 1 << 20},
                                [journal = head.journal, say = process.transport.say()] {
                                  HeadOptions options;
                                  options.say = say;
                                  return std::make_unique<HeadActor>(journal, options);
                                });
  FOREBAY_CHECK(head.ref.tell(BeginHead{}));
  process.head_here = head.ref;
  process.node.publish(std::string(kHeadName), process.head_here);
  FOREBAY_CHECK(process.transport.listen(kHeadAddress));
  return head;
}

void SimSplitExecutor::open(const JobShare&, std::uint64_t opening) {
  opening_ = opening;
  opening_is_due_ = true;
  waiting_.clear();
  running_.clear();
}

bool SimSplitExecutor::forget(std::uint64_t split) {
  running_.erase(split);
  return std::erase(waiting_, split) > 0;
}

void SimSplitExecutor::step(Time now, const WorkResults& worker) {
  if (std::exchange(opening_is_due_, false)) {
    static_cast<void>(worker.tell(WorkOpened{opening_, job_.share().fingerprint}));
  }
  most_at_once = std::max(most_at_once, waiting_.size() + running_.size());
  for (auto at = running_.begin(); at != running_.end();) {
    if (now < at->second) {
      ++at;
      continue;
    }
    const std::uint64_t split = at->first;
    at = running_.erase(at);
    if (options.fails_at && ++made_ > *options.fails_at) {
      static_cast<void>(worker.tell(WorkFailed{opening_, split, {Code::kCorrupt, "bad disk"}}));
    } else if (options.here != nullptr) {
      options.here->made_here(split);
      static_cast<void>(worker.tell(WorkDone{opening_, split, {}, true}));
    } else {
      static_cast<void>(worker.tell(WorkDone{opening_, split, job_.frames(split, pool_)}));
    }
  }
  while (running_.size() < options.cores && !waiting_.empty()) {
    running_[waiting_.front()] = now + options.split_time;
    waiting_.pop_front();
  }
}

SimWorker::SimWorker(test::SimNetwork& network, const std::string& name, std::uint64_t pid,
                     const SimJob& job, const SimSplitExecutor::Options& options)
    : SimProcess(network, name), work(job, options) {
  WorkerOptions with = worker_options(name, pid);
  with.say = transport.say();
  with.on_ended = [this](const WorkerStatus&) { ended = true; };
  worker = host.spawn({.name = "worker", .mailbox_bytes = 1 << 20}, [this, with] {
    return std::make_unique<WorkerActor>(with, work, *this, *this);
  });
  FOREBAY_CHECK(worker.tell(BeginWorker{}));
}

void SimWorker::run() {
  work.step(host.clock().now(), worker);
  host.deliver_all();
}

SimHeadAlone::SimHeadAlone(test::SimNetwork& network, test::SimDisk& disk)
    : SimProcess(network, "head"), head(SimHead::start(*this, disk)) {}

SimTrainer::SimTrainer(test::SimNetwork& network, test::SimDisk& disk, const SimJob& job,
                       Handed start, const Options& how)
    : SimProcess(network, "trainer"), options(how), pipeline(job, start) {
  if (options.head_is_here) head = SimHead::start(*this, disk);
  SplitClientOptions with;
  with.job = job.share();
  with.start = start.position;
  with.address = options.head_is_here ? "" : kTrainerAddress;
  with.say = transport.say();
  with.on_closed = [this] { closed = true; };
  own_split_client = host.spawn({.name = "feed", .mailbox_bytes = 1 << 22}, [this, with] {
    return std::make_unique<SplitClient>(with, *this, pipeline);
  });
  split_client_here = own_split_client;
  node.publish(std::string(kSplitClientName), split_client_here);
  if (!options.head_is_here) FOREBAY_CHECK(transport.listen(kTrainerAddress));
  FOREBAY_CHECK(own_split_client.tell(BeginSplitClient{}));
  if (!options.local) return;
  SimSplitExecutor::Options local = *options.local;
  local.here = &pipeline;
  local_executor.emplace(job, local);
  local_worker = host.spawn({.name = "local", .mailbox_bytes = 1 << 20}, [this] {
    return std::make_unique<WorkerActor>(worker_options("trainer", 1), *local_executor, *this,
                                         *this);
  });
  FOREBAY_CHECK(local_worker.tell(BeginWorker{}));
}

void SimTrainer::run() {
  const Time now = host.clock().now();
  if (auto issued = pipeline.issue(); !issued.empty()) {
    static_cast<void>(own_split_client.tell(IssueSplits{std::move(issued)}));
  }
  if (local_executor) local_executor->step(now, local_worker);
  host.deliver_all();
  pipeline.work();
  if (now >= next_batch_ && pipeline.hand_out()) {
    last_batch = now;
    next_batch_ = now + options.step_time;
    static_cast<void>(own_split_client.tell(Trained{pipeline.handed().position}));
  }
  if (pipeline.finished() && !std::exchange(ending_, true)) {
    static_cast<void>(own_split_client.tell(EndJob{}));
  }
  host.deliver_all();
}

SplitClientStatus SimTrainer::split_client_status() {
  auto answer = ask(own_split_client, QuerySplitClient{}, std::chrono::seconds(1));
  host.deliver_all();
  return answer.ready() ? answer.wait().value_or(SplitClientStatus{}) : SplitClientStatus{};
}

}  // namespace forebay::scheduler
