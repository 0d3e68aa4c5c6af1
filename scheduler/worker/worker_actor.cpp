#include "scheduler/worker/worker_actor.h"

#include <utility>

#include "core/wire/heartbeat.h"

namespace forebay::scheduler {
namespace {

/// Why the head did not answer, for a person.
Error explained(const Error& why) {
  if (why.code != Code::kNotFound) return why;
  return {
      why.code,
      "there is no head at this address; the workers of a job with cluster.head join that head"};
}

}  // namespace

WorkerActor::WorkerActor(WorkerOptions options, SplitExecutor& work, HeadFinder& heads,
                         SplitClientFinder& split_clients)
    : options_(std::move(options)),
      executor_(work),
      heads_(heads),
      split_clients_(split_clients),
      heartbeat_(options_.heartbeat),
      held_(work) {}

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
            .holds = held_.numbers(),
            .worker = self(context),
            .job = options_.job.empty() ? job_.id : options_.job};
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
      const Error why = explained(answer.result.error());
      const bool lasts = why.code == Code::kOverloaded || why.code == Code::kNotFound;
      turned_away_ = lasts ? why.message : "";
      reconnect_later(why, context);
    }
    return {};
  }
  turned_away_.clear();
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
                      .holds = held_.numbers(),
                      .splits_done = splits_done_,
                      .busy_cpus = load.busy_cpus,
                      .memory_bytes = load.memory_bytes,
                      .use = executor_.use(),
                      .could_make = load.could_make,
                      .busy = load.busy,
                      .cpus = load.cpus,
                      .memory_limit = load.memory_limit};
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

Status WorkerActor::on(const GoAway& go, Context& context) {
  if (leave_by_ || phase_ == Phase::kGone) return {};
  leave_by_ = context.clock().now() + go.grace;
  phase_ = Phase::kLeaving;
  const auto unbegun = held_.unmade(/*unbegun=*/true);
  held_.forget(unbegun);
  if (!unbegun.empty()) give_back(unbegun, "", context);
  say("leaving: " + std::to_string(unbegun.size()) + " splits given back, " +
      std::to_string(held_.size()) + " to hand over first");
  go_on_leaving(context);
  return {};
}

void WorkerActor::leave_at_once(Context& context) {
  leave_by_ = context.clock().now();
  phase_ = Phase::kLeaving;
  go_on_leaving(context);
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
  give_back(held_.numbers(), "", context);
  held_.forget_all();
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
  held_.forget_all();
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
      .refused = refused_.empty() ? turned_away_ : refused_,
      .misconfigured = misconfigured_};
  status.making = held_.unmade().size();
  status.ready = held_.size() - status.making;
  return status;
}

// How a worker handles a job offer.

Status WorkerActor::on(const JobOffer& offer, Context& context) {
  if (offer.incarnation == incarnation_) take_job(offer.job, offer.split_client_address, context);
  return {};
}

void WorkerActor::take_job(const JobShare& job, const std::string& split_client_address,
                           Context& context) {
  if (leave_by_) return;
  split_client_address_ = split_client_address;
  split_client_ = {};
  if (job == job_) {
    if (phase_ == Phase::kRefused) {
      give_back({}, refused_, context);
    } else if (!fingerprint_.empty()) {
      phase_ = Phase::kOpening;
      say_prepared(context);
    }
    return;
  }
  held_.forget_all();
  job_ = job;
  ++opening_;
  fingerprint_.clear();
  trouble_.clear();
  refused_.clear();
  misconfigured_ = false;
  phase_ = Phase::kOpening;
  executor_.open(job_, opening_);
}

void WorkerActor::refuse(const std::string& why) {
  phase_ = Phase::kRefused;
  trouble_ = refused_ = why;
}

Status WorkerActor::on(const WorkOpened& opened, Context& context) {
  if (opened.opening != opening_ || phase_ != Phase::kOpening) return {};
  if (opened.error) {
    refuse(opened.error->message);
    say("cannot open job " + job_.id + ": " + refused_);
    misconfigured_ = opened.misconfigured;
    give_back({}, refused_, context);
    // The head in a trainer's process, where the split client is, too, has no other job.
    if (misconfigured_ && split_client_address_.empty()) leave_at_once(context);
    return {};
  }
  fingerprint_ = opened.fingerprint;
  say_prepared(context);
  return {};
}

void WorkerActor::say_prepared(Context& context) {
  if (!is_member()) return;
  context.ask(head_, Prepared{incarnation_, fingerprint_}, options_.ask_timeout, self(context),
              incarnation_);
}

Status WorkerActor::on(const Answered<Prepared>& answer, Context& context) {
  if (answer.token != incarnation_ || phase_ != Phase::kOpening) return {};
  if (answer.result) {
    phase_ = Phase::kWorking;
    beat(context);
  } else if (answer.result.error().code == Code::kInvalid) {
    refuse(answer.result.error().message);
    say("refused: " + refused_);
    held_.forget_all();
  }
  return {};
}

Status WorkerActor::on(const JobEnded& ended, Context&) {
  if (ended.job != job_.id || phase_ == Phase::kGone) return {};
  const WorkerStatus last = status();
  held_.forget_all();
  job_ = {};
  fingerprint_.clear();
  ++opening_;
  if (phase_ != Phase::kLeaving) phase_ = Phase::kIdle;
  if (options_.on_job_ended) options_.on_job_ended(ended.error, last);
  return {};
}

}  // namespace forebay::scheduler
