#include "scheduler/worker_actor.h"

#include <algorithm>
#include <utility>

namespace forebay::scheduler {
namespace {

constexpr std::chrono::nanoseconds kSendAgain = std::chrono::milliseconds(10);

template <class Map>
std::vector<std::uint64_t> keys_of(const Map& map) {
  std::vector<std::uint64_t> keys;
  keys.reserve(map.size());
  for (const auto& [key, value] : map) keys.push_back(key);
  return keys;
}

}  // namespace

WorkerActor::WorkerActor(WorkerOptions options, SplitWork& work, HeadFinder& heads,
                         FeedFinder& feeds)
    : options_(std::move(options)), work_(work), heads_(heads), feeds_(feeds) {}

Status WorkerActor::on(const BeginWorker&, Context& context) {
  join(context);
  context.after(options_.heartbeat, WorkerTick{});
  return {};
}

Status WorkerActor::on(const WorkerTick&, Context& context) {
  if (phase_ == Phase::kGone) return {};
  context.after(options_.heartbeat, WorkerTick{});
  if (leave_by_) {
    go_on_leaving(context);
    if (phase_ == Phase::kGone) return {};
  }
  if (!is_member()) {
    if (!joining_ && context.clock().now() >= next_knock_ && !leave_by_) join(context);
  } else {
    beat(context);
    if (phase_ == Phase::kOpening && !fingerprint_.empty()) say_prepared(context);
  }
  announce_again(context);
  return {};
}

// ---- membership ----

void WorkerActor::join(Context& context) {
  next_knock_ = context.clock().now() + options_.knock;
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

Status WorkerActor::on(const Answered<Join>& answer, Context& context) {
  if (answer.token != attempt_ || !joining_ || phase_ == Phase::kGone) return {};
  joining_ = false;
  if (!answer.result) {
    if (answer.result.error().code == Code::kInvalid) {
      end(tl::unexpected<Error>(answer.result.error()), context);
    } else {
      knock_again(answer.result.error(), context);
    }
    return {};
  }
  incarnation_ = answer.result->incarnation;
  trouble_ = phase_ == Phase::kRefused ? trouble_ : "";
  say("joined as " + options_.name + ", incarnation " + std::to_string(incarnation_));
  if (phase_ == Phase::kKnocking) phase_ = job_.id.empty() ? Phase::kIdle : Phase::kOpening;
  if (!answer.result->job.id.empty()) {
    take_job(answer.result->job, answer.result->feed_address, context);
  }
  beat(context);
  return {};
}

void WorkerActor::knock_again(const Error& why, Context& context) {
  if (why.message != trouble_) say("the head cannot be used: " + why.message);
  if (phase_ != Phase::kRefused) trouble_ = why.message;
  incarnation_ = 0;
  joining_ = false;
  next_knock_ = context.clock().now() + options_.knock;
}

void WorkerActor::beat(Context& context) {
  const SplitWork::Load load = work_.load();
  Heartbeat heartbeat{.incarnation = incarnation_,
                      .slots = phase_ == Phase::kWorking && !leave_by_ ? work_.slots() : 0,
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
  // Not heard in time, or out of reach: the same head may be there by another way.
  HeadRef head = heads_.head();
  if (head.receiver() != nullptr) head_ = std::move(head);
  return {};
}

Status WorkerActor::on(const Dismissed& dismissed, Context& context) {
  if (dismissed.incarnation != incarnation_) return {};
  say("the head has dismissed this worker: " + dismissed.reason);
  incarnation_ = 0;
  if (dismissed.final) {
    end(fail(Code::kUnavailable, "dismissed: " + dismissed.reason), context);
  } else if (!leave_by_) {
    join(context);
  }
  return {};
}

// ---- the job ----

Status WorkerActor::on(const JobOffer& offer, Context& context) {
  if (offer.incarnation == incarnation_) take_job(offer.job, offer.feed_address, context);
  return {};
}

void WorkerActor::take_job(const JobShare& job, const std::string& feed_address, Context& context) {
  if (leave_by_) return;
  feed_address_ = feed_address;
  feed_ = {};
  if (job == job_) {
    if (phase_ == Phase::kRefused) {
      give_back({}, trouble_, context);
    } else if (!fingerprint_.empty()) {
      phase_ = Phase::kOpening;
      say_prepared(context);
    }
    return;
  }
  forget_all();
  job_ = job;
  ++opening_;
  fingerprint_.clear();
  trouble_.clear();
  phase_ = Phase::kOpening;
  work_.open(job_, opening_);
}

Status WorkerActor::on(const WorkOpened& opened, Context& context) {
  if (opened.opening != opening_ || phase_ != Phase::kOpening) return {};
  if (opened.error) {
    trouble_ = opened.error->message;
    phase_ = Phase::kRefused;
    say("cannot open job " + job_.id + ": " + trouble_);
    give_back({}, trouble_, context);
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
    trouble_ = answer.result.error().message;
    phase_ = Phase::kRefused;
    say("refused: " + trouble_);
    forget_all();
  }
  return {};
}

Status WorkerActor::on(const JobEnded& ended, Context&) {
  if (ended.job != job_.id || phase_ == Phase::kGone) return {};
  forget_all();
  job_ = {};
  fingerprint_.clear();
  ++opening_;
  if (phase_ != Phase::kLeaving) phase_ = Phase::kIdle;
  if (options_.on_job_ended) options_.on_job_ended(ended.job, ended.error);
  return {};
}

// ---- splits ----

Status WorkerActor::on(const Lease& lease, Context& context) {
  if (lease.incarnation != incarnation_) return {};
  const bool can = !fingerprint_.empty() && !leave_by_ && phase_ != Phase::kRefused;
  if (!can) {
    give_back(lease.splits, "", context);
    return {};
  }
  std::vector<std::uint64_t> too_many;
  for (const std::uint64_t split : lease.splits) {
    const auto held = held_.find(split);
    if (held != held_.end()) {
      if (held->second.state != Held::State::kMaking) announce(split, held->second, context);
    } else if (held_.size() > work_.slots()) {
      too_many.push_back(split);  // One more is taken: the head may be in a hurry with it.
    } else {
      held_.try_emplace(split);
      work_.begin(split);
    }
  }
  if (!too_many.empty()) give_back(too_many, "", context);
  return {};
}

Status WorkerActor::on(const Revoke& revoke, Context&) {
  if (revoke.incarnation != incarnation_) return {};
  for (const std::uint64_t split : revoke.splits) forget(split);
  return {};
}

Status WorkerActor::on(WorkDone&& done, Context& context) {
  const auto found = held_.find(done.split);
  if (done.opening != opening_ || found == held_.end()) return {};
  if (found->second.state != Held::State::kMaking) return {};
  found->second.state = Held::State::kReady;
  found->second.handed_on = done.handed_on;
  found->second.frames = std::move(done.frames);
  announce(done.split, found->second, context);
  return {};
}

Status WorkerActor::on(const WorkFailed& failed, Context& context) {
  if (failed.opening != opening_ || !held_.contains(failed.split)) return {};
  trouble_ = "split " + std::to_string(failed.split) + ": " + failed.error.message;
  say("this worker makes no more splits of job " + job_.id + ": " + trouble_);
  phase_ = Phase::kRefused;
  std::vector<std::uint64_t> unmade;
  for (const auto& [split, held] : held_) {
    if (held.state == Held::State::kMaking) unmade.push_back(split);
  }
  for (const std::uint64_t split : unmade) forget(split);
  give_back(unmade, trouble_, context);
  return {};
}

FeedRef& WorkerActor::feed() {
  if (feed_.receiver() == nullptr && !job_.id.empty()) feed_ = feeds_.feed(feed_address_);
  return feed_;
}

void WorkerActor::announce(std::uint64_t split, Held& held, Context& context) {
  held.told = context.clock().now();
  if (held.handed_on) {
    // Between actors of one process nothing is lost: told is confirmed.
    if (context.tell(feed(), HandedOn{split})) {
      ++splits_done_;
      held_.erase(split);
    }
    return;
  }
  Ready ready{.split = split,
              .bytes = forebay::bytes_of(held.frames),
              .holder = self(context),
              .sent = held.state == Held::State::kSent};
  const auto status = context.tell(feed(), std::move(ready));
  if (!status && status.error().code != Code::kOverloaded) feed_ = {};  // Looked for anew.
}

Status WorkerActor::on(const Pull& pull, Context& context) {
  const auto held = held_.find(pull.split);
  if (held == held_.end() || held->second.state == Held::State::kMaking) return {};
  send(pull.split, held->second, context);
  return {};
}

void WorkerActor::send(std::uint64_t split, Held& held, Context& context) {
  held.told = context.clock().now();
  const auto status = context.tell(feed(), Deliver{split, options_.name, held.frames});
  held.state = Held::State::kSent;
  if (status) return;
  if (status.error().code != Code::kOverloaded) {
    held.state = Held::State::kReady;
    feed_ = {};
    return;
  }
  held.state = Held::State::kPulled;
  if (std::exchange(will_send_again_, true)) return;
  context.after(kSendAgain, SendAgain{});
}

Status WorkerActor::on(const SendAgain&, Context& context) {
  will_send_again_ = false;
  for (auto& [split, held] : held_) {
    if (held.state == Held::State::kPulled) send(split, held, context);
  }
  return {};
}

void WorkerActor::announce_again(Context& context) {
  const Time now = context.clock().now();
  std::vector<std::uint64_t> due;
  for (const auto& [split, held] : held_) {
    const bool made = held.state == Held::State::kReady || held.state == Held::State::kSent;
    if (made && now - held.told >= options_.announce_again) due.push_back(split);
  }
  for (const std::uint64_t split : due) announce(split, held_[split], context);
}

Status WorkerActor::on(const Drop& drop, Context& context) {
  const auto held = held_.find(drop.split);
  if (held == held_.end()) return {};
  if (held->second.state == Held::State::kSent) ++splits_done_;
  forget(drop.split);
  if (leave_by_) go_on_leaving(context);
  return {};
}

void WorkerActor::forget(std::uint64_t split) {
  const auto held = held_.find(split);
  if (held == held_.end()) return;
  if (held->second.state == Held::State::kMaking) work_.forget(split);
  held_.erase(held);
}

void WorkerActor::forget_all() {
  for (const std::uint64_t split : keys_of(held_)) forget(split);
}

void WorkerActor::give_back(const std::vector<std::uint64_t>& splits, const std::string& error,
                            Context& context) {
  if (!is_member()) return;
  // What the head does not hear it learns from the next heartbeat, which does not name them.
  static_cast<void>(context.tell(head_, GiveBack{incarnation_, splits, error}));
}

// ---- leaving ----

Status WorkerActor::on(const GoAway& go, Context& context) {
  if (leave_by_ || phase_ == Phase::kGone) return {};
  leave_by_ = context.clock().now() + go.grace;
  phase_ = Phase::kLeaving;
  std::vector<std::uint64_t> unbegun;
  for (const auto& [split, held] : held_) {
    if (held.state == Held::State::kMaking && !work_.begun(split)) unbegun.push_back(split);
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
    end({}, context);
    return;
  }
  if (std::exchange(said_leave_, true)) {
    // Asked already; the head has had its time.
    if (now >= *leave_by_ + options_.ask_timeout) end({}, context);
    return;
  }
  give_back(keys_of(held_), "", context);
  forget_all();
  context.ask(head_, Leave{incarnation_}, options_.ask_timeout, self(context));
}

Status WorkerActor::on(const Answered<Leave>&, Context& context) {
  if (phase_ != Phase::kGone) end({}, context);
  return {};
}

void WorkerActor::end(const Status& status, Context& context) {
  phase_ = Phase::kGone;
  incarnation_ = 0;
  forget_all();
  context.stop();
  if (options_.on_ended) options_.on_ended(status);
}

void WorkerActor::say(const std::string& sentence) const {
  if (options_.say) options_.say(sentence);
}

Result<WorkerStatus> WorkerActor::on(const QueryWorker&, Context&) {
  WorkerStatus status{
      .phase = is_member() || leave_by_ || phase_ == Phase::kGone ? phase_ : Phase::kKnocking,
      .incarnation = incarnation_,
      .job = job_.id,
      .splits_done = splits_done_,
      .trouble = trouble_};
  for (const auto& [split, held] : held_) {
    ++(held.state == Held::State::kMaking ? status.making : status.ready);
  }
  return status;
}

}  // namespace forebay::scheduler
