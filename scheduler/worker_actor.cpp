#include "scheduler/worker_actor.h"

#include <utility>

#include "core/wire/heartbeat.h"

namespace forebay::scheduler {
namespace {

template <class Map>
std::vector<std::uint64_t> keys_of(const Map& map) {
  std::vector<std::uint64_t> keys;
  keys.reserve(map.size());
  for (const auto& [key, value] : map) keys.push_back(key);
  return keys;
}

}  // namespace

WorkerActor::WorkerActor(WorkerOptions options, SplitExecutor& work, HeadFinder& heads,
                         SplitClientFinder& split_clients)
    : options_(std::move(options)),
      executor_(work),
      heads_(heads),
      split_clients_(split_clients),
      heartbeat_(options_.heartbeat) {}

Status WorkerActor::on(const BeginWorker&, Context& context) {
  join(context);
  context.after(heartbeat_, WorkerTick{pace_});
  return {};
}

Status WorkerActor::on(const WorkerTick& tick, Context& context) {
  if (phase_ == Phase::kGone || tick.pace != pace_) return {};
  context.after(heartbeat_, WorkerTick{pace_});
  if (leave_by_) {
    go_on_leaving(context);
    if (phase_ == Phase::kGone) return {};
  }
  if (!is_member()) {
    if (!joining_ && context.clock().now() >= next_reconnect_ && !leave_by_) join(context);
  } else {
    beat(context);
    if (phase_ == Phase::kOpening && !fingerprint_.empty()) say_prepared(context);
  }
  announce_again(context);
  return {};
}

void WorkerActor::join(Context& context) {
  next_reconnect_ = context.clock().now() + options_.reconnect;
  HeadRef head = heads_.head();
  if (head.receiver() == nullptr) return;
  head_ = std::move(head);
  joining_ = true;
  Join join{.version = options_.version,
            .operators = options_.operators,
            .name = options_.name,
            .host = options_.host,
            .pid = options_.pid,
            .cpus = options_.cpus,
            .memory_bytes = options_.memory_bytes,
            .holds = keys_of(held_),
            .worker = self(context)};
  context.ask(head_, std::move(join), options_.ask_timeout, self(context), ++attempt_);
}

// Sends heartbeats as often as the head requires; the head would treat a slower worker as lost.
void WorkerActor::keep_pace(const Accepted& accepted, Context& context) {
  const auto wanted = faster_pace(options_.heartbeat, accepted.heartbeat_ns);
  if (wanted == heartbeat_) return;
  heartbeat_ = wanted;
  context.after(heartbeat_, WorkerTick{++pace_});
}

Status WorkerActor::on(const Answered<Join>& answer, Context& context) {
  if (answer.token != attempt_ || !joining_ || phase_ == Phase::kGone) return {};
  joining_ = false;
  if (!answer.result) {
    if (answer.result.error().code == Code::kInvalid) {
      refuse(answer.result.error().message);
      end(context);
    } else {
      reconnect_later(answer.result.error(), context);
    }
    return {};
  }
  incarnation_ = answer.result->incarnation;
  keep_pace(*answer.result, context);
  trouble_ = refused_;
  say("joined as " + options_.name + ", incarnation " + std::to_string(incarnation_));
  if (phase_ == Phase::kConnecting) phase_ = job_.id.empty() ? Phase::kIdle : Phase::kOpening;
  if (!answer.result->job.id.empty()) {
    take_job(answer.result->job, answer.result->split_client_address, context);
  }
  beat(context);
  return {};
}

void WorkerActor::reconnect_later(const Error& why, Context& context) {
  if (why.message != trouble_) say("the head cannot be used: " + why.message);
  trouble_ = why.message;
  incarnation_ = 0;
  joining_ = false;
  next_reconnect_ = context.clock().now() + options_.reconnect;
}

void WorkerActor::beat(Context& context) {
  const SplitExecutor::Load load = executor_.load();
  Heartbeat heartbeat{.incarnation = incarnation_,
                      .slots = phase_ == Phase::kWorking && !leave_by_ ? executor_.slots() : 0,
                      .holds = keys_of(held_),
                      .splits_done = splits_done_,
                      .busy_cpus = load.busy_cpus,
                      .memory_bytes = load.memory_bytes};
  context.ask(head_, std::move(heartbeat), options_.ask_timeout, self(context), incarnation_);
}

Status WorkerActor::on(const Answered<Heartbeat>& answer, Context& context) {
  if (answer.result || answer.token != incarnation_ || phase_ == Phase::kGone) return {};
  if (answer.result.error().code == Code::kNotFound) {
    incarnation_ = 0;
    if (!leave_by_) join(context);
    return {};
  }
  // The head did not answer in time or is unreachable; another connection may reach the same head.
  HeadRef head = heads_.head();
  if (head.receiver() != nullptr) head_ = std::move(head);
  return {};
}

Status WorkerActor::on(const Evicted& evicted, Context& context) {
  if (evicted.incarnation != incarnation_) return {};
  say("the head has evicted this worker: " + evicted.reason);
  incarnation_ = 0;
  if (!leave_by_) join(context);
  return {};
}

void WorkerActor::forget_all() {
  for (const std::uint64_t split : keys_of(held_)) forget(split);
}

Status WorkerActor::on(const GoAway& go, Context& context) {
  if (leave_by_ || phase_ == Phase::kGone) return {};
  leave_by_ = context.clock().now() + go.grace;
  phase_ = Phase::kLeaving;
  std::vector<std::uint64_t> unbegun;
  for (const auto& [split, held] : held_) {
    if (held.state == Held::State::kMaking && !executor_.begun(split)) unbegun.push_back(split);
  }
  for (const std::uint64_t split : unbegun) forget(split);
  if (!unbegun.empty()) give_back(unbegun, "", context);
  say("leaving: " + std::to_string(unbegun.size()) + " splits given back, " +
      std::to_string(held_.size()) + " to hand over first");
  go_on_leaving(context);
  return {};
}

void WorkerActor::go_on_leaving(Context& context) {
  const Time now = context.clock().now();
  if (!held_.empty() && now < *leave_by_) return;
  if (!is_member()) {
    end(context);
    return;
  }
  if (std::exchange(said_leave_, true)) {
    // Leave was sent already; the worker ends when the head's time to answer is over.
    if (now >= *leave_by_ + options_.ask_timeout) end(context);
    return;
  }
  give_back(keys_of(held_), "", context);
  forget_all();
  context.ask(head_, Leave{incarnation_}, options_.ask_timeout, self(context));
}

Status WorkerActor::on(const Answered<Leave>&, Context& context) {
  if (phase_ != Phase::kGone) end(context);
  return {};
}

void WorkerActor::end(Context& context) {
  const WorkerStatus last = status();
  phase_ = Phase::kGone;
  incarnation_ = 0;
  forget_all();
  context.stop();
  if (options_.on_ended) options_.on_ended(last);
}

void WorkerActor::say(const std::string& sentence) const {
  if (options_.say) options_.say(sentence);
}

Result<WorkerStatus> WorkerActor::on(const QueryWorker&, Context&) { return status(); }

WorkerStatus WorkerActor::status() const {
  WorkerStatus status{
      .phase = is_member() || leave_by_ || phase_ == Phase::kGone ? phase_ : Phase::kConnecting,
      .incarnation = incarnation_,
      .job = job_.id,
      .splits_done = splits_done_,
      .trouble = trouble_,
      .refused = refused_};
  for (const auto& [split, held] : held_) {
    ++(held.state == Held::State::kMaking ? status.making : status.ready);
  }
  return status;
}

}  // namespace forebay::scheduler
