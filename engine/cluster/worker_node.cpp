#include "engine/cluster/worker_node.h"

#include <algorithm>
#include <utility>

#include "core/base/clock.h"
#include "core/runtime/ticker.h"
#include "engine/cluster/head_location.h"
#include "engine/cluster/head_node.h"
#include "engine/job/job_spec.h"
#include "engine/process/memory_use.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;

}  // namespace

Result<std::unique_ptr<WorkerNode>> WorkerNode::open(Options options) {
  auto end = std::unique_ptr<WorkerNode>(new WorkerNode(std::move(options)));  // NOLINT: private.
  const Options& given = end->options_;
  if (given.has_actors()) {
    auto hosting = ActorHosting::load({.name = given.place.name,
                                       .libraries = given.actors,
                                       .listen = given.listen,
                                       .has_keys = !given.keys.empty(),
                                       .cpus = static_cast<std::uint64_t>(given.place.cpus),
                                       .memory_bytes = given.place.memory_bytes,
                                       .objects = given.objects,
                                       .say = given.say});
    if (!hosting) return pass(hosting);
    end->hosting_ = std::move(*hosting);
  }
  const auto threads = static_cast<std::size_t>(given.has_actors() ? given.place.cpus : 1);
  auto net = NetworkEndpoint::make(
      {.keys = given.keys, .heartbeat = given.heartbeat, .threads = threads, .say = given.say},
      end->clock_);
  if (!net) return fail(net.error().code, "--keys: " + net.error().message);
  end->net_ = std::move(*net);
  end->head_.emplace(given.join, *end->net_, given.say);
  if (auto status = end->head_->open(); !status) {
    return fail(status.error().code, "--join: " + status.error().message);
  }
  end->make_worker();
  if (end->hosting_) {
    auto status = end->hosting_->open(*end->net_, [node = end.get()] {
      return node->head_->actor<DirectoryRef>(kDirectoryName);
    });
    if (!status) return pass(status);
  }
  return end;
}

// The network ends first, since the worker's actor uses the stages; the tuner ends before its tuned
// pipeline.
WorkerNode::~WorkerNode() {
  if (work_) work_->stop();
  if (net_) net_->end();  // The worker's actor asks this node for references through net_.
  net_.reset();
  work_.reset();
}

void WorkerNode::make_worker() {
  const std::uint64_t resident = resident_bytes();
  work_ = std::make_unique<StageSplitExecutor>(StageSplitExecutor::Options{
      .place = options_.place,
      .resident = resident,
      .on_stages = [this](NodeStages* stages, WorkerJob* job) { tune(stages, job); }});
  scheduler::WorkerOptions options = worker_here(options_.place.name);
  options.cpus = options_.place.cpus;
  options.memory_bytes = options_.place.memory_bytes;
  options.heartbeat = options_.heartbeat;
  options.say = options_.say;
  options.on_job_ended = [this](const std::string& error, const scheduler::WorkerStatus& last) {
    if (!error.empty()) options_.say("the job failed: " + error);
    end_with(last);
  };
  options.on_ended = [this](const scheduler::WorkerStatus& last) { end_with(last); };
  scheduler::HeadFinder& heads = *this;
  scheduler::SplitClientFinder& split_clients = *this;
  worker_ = net_->actors().spawn(
      {.name = "worker", .mailbox_bytes = kNetMailbox, .placement = Placement::kOwnThread},
      [this, options, &heads, &split_clients] {
        return std::make_unique<scheduler::WorkerActor>(options, *work_, heads, split_clients);
      });
  work_->report_to(worker_);
}

// Called several times a second: handles a stop request and a lost head.
void WorkerNode::look(const std::function<bool()>& stopped) {
  if (serial_([this] { return ended_.has_value(); })) return;
  if (stopped() && !std::exchange(leaving_, true)) {
    static_cast<void>(worker_.tell(scheduler::GoAway{options_.grace}));
  }
  const auto now = clock_.now();
  if (now >= next_look_) {
    next_look_ = now + 500ms;
    const auto status = ask(worker_, scheduler::QueryWorker{}, 200ms).wait();
    if (status) look_at_link(status->ready);
    head_->look();
    if (status && is_turned_away_for_long(*status, now)) return end_with(*status);
  }
  if (head().receiver() != nullptr) last_head_ = now;
  const auto alone = now - last_head_;
  std::optional<std::chrono::nanoseconds> rejoin;
  work_->with_stages([&](NodeStages&, const WorkerJob& job) { rejoin = job.job().cluster.rejoin; });
  // A worker that the job refused never learns the job's own time.
  if (alone > rejoin.value_or(ClusterSpec().rejoin)) {
    const auto last = ask(worker_, scheduler::QueryWorker{}, 1s).wait();
    const bool was_refused = last && !last->refused.empty();
    // One that has tried to join has found a head, too.
    const bool had_head = rejoin || (last && !last->trouble.empty());
    if (had_head && !was_refused) options_.say("the job's trainer has gone and not come back");
    if (had_head) return end_with(last.value_or(scheduler::WorkerStatus{}));
  }
  if (alone <= options_.patience) return;
  end_with(fail(Code::kUnavailable,
                "no head answers at " + options_.join +
                    "; is the trainer running, is it the right address, and does --keys "
                    "name the job's keys?" +
                    net_->trouble()));
}

// Whether the head has not taken this worker as a member for `patience`, for example since another
// one has its name.
bool WorkerNode::is_turned_away_for_long(const scheduler::WorkerStatus& status,
                                         std::chrono::nanoseconds now) {
  if (status.incarnation != 0 || status.refused.empty()) {
    turned_away_since_.reset();
    return false;
  }
  if (!turned_away_since_) turned_away_since_ = now;
  return now - *turned_away_since_ >= options_.patience;
}

void WorkerNode::look_at_link(std::uint64_t ready) {
  work_->with_stages([this, ready](NodeStages& stages, const WorkerJob& job) {
    if (job.job().cluster.compress != "auto") return;
    if (!compression_) {
      compression_.emplace(static_cast<double>(options_.place.cpus), clock_, options_.say);
    }
    const auto told = advice_([this]() -> std::optional<Compression> { return told_; });
    compression_->look(stages, ready, told);
    LinkSeen seen = compression_->seen(stages);
    advice_([&] { link_seen_ = std::move(seen); });
  });
}

// On the tuner's thread, which ends before the stages.
void WorkerNode::obey(const Advised& advised) {
  work_->with_stages([&](NodeStages& stages, const WorkerJob&) { stages.set_fed(advised.fed); });
  const bool sets =
      advised.sets_way && advised.way <= static_cast<std::uint32_t>(Compression::kZstd);
  advice_(
      [&] { told_ = sets ? std::optional(static_cast<Compression>(advised.way)) : std::nullopt; });
}

void WorkerNode::end_with(Result<scheduler::WorkerStatus> last) {
  serial_([&] {
    if (!ended_) ended_ = std::move(last);
  });
  over_.open();
}

Result<WorkerNode::Outcome> WorkerNode::run(const std::function<bool()>& stopped) {
  const auto began = clock_.now();
  last_head_ = began;
  static_cast<void>(worker_.tell(scheduler::BeginWorker{}));
  {
    const Ticker ticker(20ms, [&] { look(stopped); });
    over_.wait();
  }
  auto last = serial_([this] { return *ended_; });
  if (!last) return pass(last);
  return Outcome{.job = last->job,
                 .splits = last->splits_done,
                 .seconds = in_seconds(clock_.now() - began),
                 .refused = last->refused,
                 .misconfigured = last->misconfigured};
}

WorkerFigures WorkerNode::figures() const {
  WorkerFigures now;
  now.memory_bytes = resident_bytes();
  now.memory_limit = options_.place.memory_bytes;
  if (const auto status = ask(worker_, scheduler::QueryWorker{}, 1s).wait()) {
    now.joined = status->incarnation != 0;
    now.making = status->making;
    now.ready = status->ready;
    now.done = status->splits_done;
  }
  work_->with_stages([&now](const NodeStages& stages, const WorkerJob&) {
    now.stages = stages.stats();
    now.plain_bytes = stages.plain_bytes();
    now.packed_bytes = stages.packed_bytes();
  });
  return now;
}

scheduler::HeadRef WorkerNode::head() {
  return head_->actor<scheduler::HeadRef>(scheduler::kHeadName);
}

// A separate split client is connected to once; the transport keeps the session up from then on.
scheduler::SplitClientRef WorkerNode::split_client(const std::string& address) {
  const std::string at_head = head_->address();
  const std::string place = address.empty() ? at_head : without_scheme(address);
  const bool known = serial_([&] {
    split_client_address_ = place;
    return place == at_head || !dialled_.emplace(place, true).second;
  });
  if (!known) {
    if (auto status = net_->connect(place); !status) options_.say(status.error().message);
  }
  return net_->actor<scheduler::SplitClientRef>(place, scheduler::kSplitClientName);
}

TunersRef WorkerNode::tuners() {
  const std::string place = serial_([this]() -> std::string { return split_client_address_; });
  return net_->actor<TunersRef>(place.empty() ? head_->address() : place, kTunersName);
}

std::unique_ptr<tuner::Policy> WorkerNode::policy_for(const std::string& name, std::uint64_t seed) {
  tuner::PolicyContext context;
  context.description = tuned_pipeline_->description();
  context.limits = tuned_pipeline_->current().limits;
  context.seed = seed;
  auto own = tuner::make_policy("intune:no-network", context);
  return std::make_unique<CentralPolicy>(
      CentralPolicy::Options{.question = {.node = options_.place.name,
                                          .description = context.description,
                                          .limits = context.limits,
                                          .seen = {}},
                             .name = name,
                             .tuners = [this] { return tuners(); },
                             .own = own ? std::move(*own) : nullptr,
                             .link =
                                 [this](const tuner::Observation&) {
                                   return advice_([this]() -> LinkSeen { return link_seen_; });
                                 },
                             .obey = [this](const Advised& advised) { obey(advised); },
                             .say = options_.say});
}

tuner::TunerActor::Options WorkerNode::tuning(const JobSpec& job) {
  const std::string node = options_.place.name;
  const auto period = std::chrono::duration_cast<tuner::TunerActor::Time>(job.tuner.period);
  const tuner::Mode mode = tuner::mode_named(job.tuner.mode);
  const std::uint64_t seed = job.order.seed;
  const std::string policy = job.tuner.policy;
  return {.make_tuner =
              [this, node, mode, seed, policy] {
                return std::make_unique<tuner::Tuner>(tuner::Tuner::Options{
                    .tuned_pipeline = *tuned_pipeline_,
                    .clock = clock_,
                    .policy = policy_for(policy, seed),
                    .fallback = nullptr,
                    .mode = mode,
                    .on_decision = [this, node](const tuner::Decision& decision) {
                      static_cast<void>(
                          tuners().tell(DecisionTaken{.node = node, .decision = decision}));
                    }});
              },
          .period = std::max(period, tuner::TunerActor::kStep)};
}

void WorkerNode::watch_memory(const NodeStages& stages, std::uint64_t resident) {
  memory_ = std::make_unique<MemoryWatch>(
      [&stages, resident] { return resident + kMemorySlack + stages.buffer_bytes(); },
      [&stages] { return stages.child_bytes(); });
  if (!options_.outgrown) return;
  memory_->watch({.key = "--memory",
                  .limit = [this] { return options_.place.memory_bytes; },
                  .fail = options_.outgrown});
}

void WorkerNode::tune(NodeStages* stages, WorkerJob* job) {
  memory_.reset();
  tuning_.reset();
  tuned_pipeline_.reset();
  advice_([this] {
    link_seen_ = {};
    told_.reset();
  });
  if (stages == nullptr) return;
  const std::uint64_t resident = resident_bytes();
  watch_memory(*stages, resident);
  tuned_pipeline_ = std::make_unique<WorkerPipeline>(
      WorkerPipeline::Options{.stages = *stages,
                              .job = job->job(),
                              .limits = {.cpus = static_cast<double>(options_.place.cpus),
                                         .memory_bytes = options_.place.memory_bytes},
                              .resident_before = resident,
                              .rows_per_split = stages->sizes().rows,
                              .clock = clock_,
                              .say = options_.say});
  tuning_.emplace(ActorSystem::Options{.executor = {.name = "tuning", .threads = 1}}, clock_);
  tuner::start_tuner(*tuning_, tuning(job->job()));
}

}  // namespace forebay
