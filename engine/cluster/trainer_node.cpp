#include "engine/cluster/trainer_node.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include "actors/stage/split_frames.h"
#include "core/base/whole_file.h"
#include "engine/cluster/head_node.h"
#include "engine/cluster/split_client.h"
#include "engine/run/policy_checkpoint.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

/// The file in which workers on this machine find the trainer's address.
std::string address_file(const JobSpec& job) {
  const std::string& file = job.cluster.address_file;
  return file.empty() ? job.run.dir + "/address" : file;
}

std::string new_job_id(const std::string& fingerprint) {
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  const std::string text =
      fingerprint + '\n' + std::to_string(now) + '\n' + std::to_string(::getpid());
  return Digest::of(text.data(), text.size()).hex().substr(0, 16);
}

/// Where workers bring their splits.
struct Listener {
  std::unique_ptr<NetworkEndpoint> net;
  std::string address;  // "tcp://H:P"; "": the job does not listen
};

Result<Listener> listener_of(const ClusterSpec& cluster, NetworkEndpoint::Options options,
                             const Clock& clock) {
  options.keys = cluster.keys;
  options.heartbeat = cluster.heartbeat;
  auto net = NetworkEndpoint::make(options, clock);
  if (!net) return fail(net.error().code, "cluster.keys: " + net.error().message);
  Listener listener{.net = std::move(*net), .address = ""};
  if (!cluster.listen.empty()) {
    auto address = listener.net->listen(cluster.listen);
    if (!address) return fail(address.error().code, "cluster.listen: " + address.error().message);
    listener.address = "tcp://" + reachable(*address);
  } else if (!cluster.head.empty()) {
    return fail(Code::kInvalid,
                "cluster.head is set, but workers bring their splits here; set cluster.listen, "
                "too");
  }
  return listener;
}

Status open_other(HeadLocation& head) {
  auto status = head.open();
  return status ? status : fail(status.error().code, "cluster.head: " + status.error().message);
}

}  // namespace

Status TrainerNode::check(const JobSpec& job) {
  if (!job.cluster.used()) return {};
  const SystemClock clock;
  const Say quiet = [](const std::string&) {};
  auto listener = listener_of(job.cluster, {.keys = "", .say = quiet}, clock);
  if (!listener) return pass(listener);
  if (job.cluster.head.empty()) return {};
  HeadLocation head(job.cluster.head, *listener->net, quiet);
  return open_other(head);
}

Result<std::unique_ptr<TrainerNode>> TrainerNode::open(const JobSpec& job,
                                                       const std::string& command, Say say) {
  // The address file of a killed run would mislead workers, even if this run has no cluster.
  std::error_code ignored;
  fs::remove(address_file(job), ignored);
  if (!job.cluster.used()) return std::unique_ptr<TrainerNode>();
  auto end = std::unique_ptr<TrainerNode>(  // NOLINT: the constructor is private.
      new TrainerNode(job, command, std::move(say)));
  if (auto status = end->open_listener(); !status) return pass(status);
  if (auto status = end->open_head(); !status) return pass(status);
  return end;
}

TrainerNode::~TrainerNode() {
  end("the trainer stopped");
  net_.reset();
  remove_address();
}

void TrainerNode::remove_address() const {
  std::error_code ignored;
  if (!address_.empty()) fs::remove(address_file(job_), ignored);
}

Status TrainerNode::open_listener() {
  const ClusterSpec& cluster = job_.cluster;
  auto listener = listener_of(cluster, {.keys = "", .received = &received_, .say = say_}, clock_);
  if (!listener) return pass(listener);
  net_ = std::move(listener->net);
  address_ = std::move(listener->address);
  if (!address_.empty()) {
    say_(cluster.head.empty() ? "workers join at " + address_
                              : "workers join the head at " + join_address() +
                                    " and bring their splits to " + address_);
    write_address();
  }
  if (cluster.head.empty()) return {};
  other_head_.emplace(cluster.head, *net_, say_);
  return open_other(*other_head_);
}

std::string TrainerNode::join_address() const {
  const std::string& head = job_.cluster.head;
  return head.empty() || address_.empty() ? address_ : "tcp://" + without_scheme(head);
}

// Writes the address to join, for scripts on a file system that the nodes share.
void TrainerNode::write_address() const {
  const std::string path = address_file(job_);
  if (replace_whole(path, join_address() + "\n", Sync::kNo)) return;
  say_("the address to join could not be written to " + path);
}

Status TrainerNode::open_head() {
  if (!job_.cluster.head.empty()) return {};
  const auto placement = scheduler::placement_policy_of(job_.cluster.placement);
  if (!placement)
    return fail(placement.error().code, "cluster.placement: " + placement.error().message);
  auto store = RocksStore::open(job_.run.dir + "/store");
  if (!store) return pass(store);
  store_ = std::move(*store);
  scheduler::HeadOptions options;
  options.lease = job_.cluster.lease;
  options.heartbeat = job_.cluster.heartbeat;
  options.rejoin = job_.cluster.rejoin;
  options.placement = *placement;
  options.trainer_host = host_name();
  options.trainer_pid = static_cast<std::uint64_t>(::getpid());
  options.say = say_;
  auto head = start_head(*net_, *store_, options);
  if (!head) return pass(head);
  own_head_ = *head;
  return {};
}

JobRun::Sharing TrainerNode::sharing() {
  return {.dispatch = this,
          .makes_splits = job_.cluster.local,
          .on_given =
              [this](const Position& position) {
                static_cast<void>(split_client_.tell(scheduler::Trained{position}));
                serial_([&] { rows_->given(position); });
              },
          .where = [this] { return where_splits_are(); }};
}

Status TrainerNode::start_split_client(JobRun& run, const JobText& text,
                                       const std::string& fingerprint) {
  scheduler::SplitClientOptions options;
  job_id_ = new_job_id(fingerprint);
  options.job = {.id = job_id_,
                 .text = encode_job_text(text),
                 .fingerprint = fingerprint,
                 .splits_per_epoch = run.pipeline().splits_per_epoch(),
                 .epochs = run.order().epochs,
                 .folder = fs::absolute(job_.run.dir).lexically_normal().string()};
  options.start = run.begin();
  // This node's own worker counts as one of the workers to wait for.
  options.min_workers = static_cast<std::uint32_t>(job_.cluster.min_workers) +
                        (job_.cluster.local && job_.cluster.min_workers > 0 ? 1 : 0);
  options.period = job_.cluster.heartbeat;
  if (!job_.cluster.head.empty()) options.address = without_scheme(address_);
  options.say = say_;
  options.on_closed = [this] { closed_.open(); };
  split_client_ = host_split_client(*net_, options, *this, *this);
  return split_client_.tell(scheduler::BeginSplitClient{});
}

void TrainerNode::start_local_worker() {
  scheduler::WorkerOptions options = worker_here(kLocalNode);
  options.job = job_id_;
  options.cpus = job_.pipeline.cpus;
  options.memory_bytes = job_.pipeline.memory_bytes;
  options.heartbeat = job_.cluster.heartbeat;
  scheduler::HeadFinder& heads = *this;
  scheduler::SplitClientFinder& split_clients = *this;
  local_worker_ = net_->actors().spawn({.name = "local-worker", .mailbox_bytes = kNetMailbox},
                                       [this, options, &heads, &split_clients] {
                                         return std::make_unique<scheduler::WorkerActor>(
                                             options, *local_executor_, heads, split_clients);
                                       });
  local_executor_->report_to(local_worker_);
  static_cast<void>(local_worker_.tell(scheduler::BeginWorker{}));
}

Status TrainerNode::begin(JobRun& run) {
  auto text = job_text_of(job_, run);
  if (!text) return pass(text);
  const std::string fingerprint = fingerprint_of(*text);
  run_ = &run;
  taken_before_ = serial_([&] {
    const std::uint64_t splits = run.pipeline().splits_per_epoch();
    rows_.emplace(splits, run.dataset().rows() / std::max<std::uint64_t>(1, splits));
    rows_->begin(run.begin());
    return rows_->taken();
  });
  const std::string work = name_of_work(run);
  tuning_.start(*net_, own_head_, work);
  if (auto status = start_split_client(run, *text, fingerprint); !status) return status;
  serial_([this] {
    begun_ = true;
    static_cast<void>(split_client_.tell(scheduler::IssueSplits{std::exchange(early_, {})}));
  });
  if (job_.cluster.local) {
    local_executor_ = std::make_unique<LocalSplitExecutor>(run.pipeline(), job_id_, fingerprint);
    start_local_worker();
  }
  scaling_.emplace(job_, job_.run.dir + "/tuner/workers-" + work, say_);
  ticker_ = std::make_unique<Ticker>(250ms, [this] { look(); });
  return {};
}

void TrainerNode::end(const std::string& error) {
  if (run_ == nullptr) return;
  remove_address();  // Here, too: a stopped run's destructors do not run.
  ticker_.reset();
  static_cast<void>(split_client_.tell(scheduler::EndJob{error}));
  static_cast<void>(closed_.wait_for(2s));  // If the head is gone, the latch is never set.
  scaling_.reset();                         // ends a command that still runs
  local_worker_.stop();
  // Once the network and the split client have stopped, no split reaches the pipeline any more.
  net_->end();
  run_ = nullptr;
}

void TrainerNode::issued(std::uint64_t number) {
  serial_([&] {
    if (!begun_) return early_.push_back(number);
    static_cast<void>(split_client_.tell(scheduler::IssueSplits{{number}}));
  });
}

void TrainerNode::made_here(std::uint64_t number, std::uint64_t rows) {
  serial_([&] { rows_->made(number, kLocalNode, rows); });
  local_executor_->made(number);
}

Result<bool> TrainerNode::arrived(std::uint64_t split, const std::string& worker, Frames frames) {
  Pipeline& pipeline = run_->pipeline();
  if (!pipeline.expects(split)) return false;
  const Schema& schema = run_->schema();
  const std::uint64_t most = std::max(pipeline.sizes().held, pipeline.sizes().largest_split);
  auto unpacked = unpack_split(frames,
                               {.columns = {.max_rows = most,
                                            .dense = schema.dense.size(),
                                            .sparse = schema.sparse.size(),
                                            .max_bytes = most,
                                            .weights = schema.weight,
                                            .extras = schema.extra.size(),
                                            .repeated = schema.repeated},
                                .files = run_->dataset().files().size(),
                                .stages = run_->plan().stages().size(),
                                .parts = pipeline.parts_of(split)},
                               run_->buffers());
  if (!unpacked) return pass(unpacked);
  const std::uint64_t number = unpacked->front().id.number;
  if (number != split) {
    return fail(Code::kCorrupt, "frames of split " + std::to_string(number) + " came as split " +
                                    std::to_string(split));
  }
  std::uint64_t rows = 0;
  for (Split& part : *unpacked) {
    rows += part.columns.rows;
    part.times.arrived = clock_.now();
    part.node = worker;
  }
  if (!pipeline.accept(std::move(*unpacked))) return false;
  serial_([&] { rows_->made(split, worker, rows); });
  return true;
}

void TrainerNode::has_used(const std::string& worker, std::uint64_t pid,
                           const scheduler::JobUse& so_far) {
  serial_([&] { use_.report(worker, pid, so_far); });
}

scheduler::HeadRef TrainerNode::head() {
  if (!other_head_) return own_head_;
  return other_head_->actor<scheduler::HeadRef>(scheduler::kHeadName);
}

std::optional<scheduler::ClusterStatus> TrainerNode::ask_around() {
  ActorRef<scheduler::QueryCluster> ref = own_head_;
  if (other_head_) ref = other_head_->actor<ActorRef<scheduler::QueryCluster>>(kStatusName);
  std::optional<scheduler::ClusterStatus> head;
  if (ref.receiver() != nullptr) {
    if (auto answer = ask(ref, scheduler::QueryCluster{}, 200ms).wait()) head = std::move(*answer);
  }
  const auto split_client = ask(split_client_, scheduler::QuerySplitClient{}, 200ms).wait();
  // A late answer: the next look asks again.
  if (!split_client || (!head && split_client->open)) return std::nullopt;
  return trainer_view(job_id_, std::move(head), *split_client);
}

// Collects the current status for status queries and for the window of leases.
void TrainerNode::look() {
  if (other_head_) other_head_->look();
  tell_limits();
  auto status = ask_around();
  if (!status) return;
  for (const std::string& problem : status->problems) {
    if (problems_.is_news(problem, clock_.now())) say_(problem);
  }
  if (!status->job.empty()) use(*status);
  serial_([&] {
    for (const scheduler::NodeStatus& node : status->nodes) {
      if (status->job == job_id_) use_.report(node.name, node.pid, node.use);
    }
    status_ = std::move(*status);
  });
}

// The user and the machine change the limits while the job runs.
void TrainerNode::tell_limits() {
  const auto limits = serial_([this] { return limits_; });
  if (!limits || !local_executor_) return;
  const tuner::Limits now = limits();
  local_executor_->set_limits(now.cpus, now.memory_bytes);
}

void TrainerNode::use(const scheduler::ClusterStatus& status) {
  std::uint64_t elsewhere = 0;
  for (const scheduler::NodeStatus& node : status.nodes) {
    if (node.name != kLocalNode) elsewhere += node.capacity;
  }
  run_->pipeline().set_elsewhere(elsewhere);
  check_own_files(status);
  const double taken = serial_([this] { return rows_->taken(); });
  tuning_.tell(*run_, taken - taken_before_);
  scaling_->look(status,
                 {.at = run_->clock().now(),
                  .splits = taken,
                  .arrived = run_->pipeline().stats().lowest_missing,
                  .waited = run_->source().waited(),
                  .paused = run_->source().paused()},
                 kLocalNode, tuning_.workers());
}

// Each worker that finds damage refuses the job on its own. If the trainer's own files are damaged,
// too, no other worker can do better.
void TrainerNode::check_own_files(const scheduler::ClusterStatus& status) {
  std::string refused = refusals(status);
  if (refused.empty() || refused == std::exchange(refusals_, refused)) return;
  auto checked = run_->pipeline().check_expected();
  if (!checked && checked.error().code == Code::kCorrupt)
    run_->pipeline().end_with(checked.error());
}

// For a stall report: the problems, or else the number of splits each node holds.
std::string TrainerNode::where_splits_are() const {
  const scheduler::ClusterStatus now = status();
  std::string text;
  for (const std::string& problem : now.problems)
    text.append(text.empty() ? "" : "; ").append(problem);
  if (!text.empty()) return text;
  for (const scheduler::NodeStatus& node : now.nodes) {
    text.append(text.empty() ? "leased to " : ", ").append(node.name).append(": ");
    text.append(std::to_string(node.leases));
  }
  return text;
}

std::map<std::string, std::uint64_t> TrainerNode::rows_by_node(const Position& position) const {
  using Rows = std::map<std::string, std::uint64_t>;
  return serial_([&]() -> Rows { return rows_ ? rows_->at(position) : Rows{}; });
}

std::map<std::string, scheduler::JobUse> TrainerNode::use_by_node() const {
  return serial_([this] { return use_.sums(); });
}

scheduler::ClusterStatus TrainerNode::status() const {
  return serial_([this]() -> scheduler::ClusterStatus { return status_; });
}

}  // namespace forebay
