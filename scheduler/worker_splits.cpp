#include <utility>

#include "scheduler/worker_actor.h"

namespace forebay::scheduler {
namespace {

constexpr std::chrono::nanoseconds kSendAgain = std::chrono::milliseconds(10);

}  // namespace

// The states of a split: leased, made, announced, pulled, sent, confirmed.

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
    } else if (held_.size() > executor_.slots()) {
      too_many.push_back(split);  // Takes one more than it wants: the head may need it urgently.
    } else {
      held_.try_emplace(split);
      executor_.begin(split);
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
  if (failed.opening != opening_ || phase_ == Phase::kRefused) return {};
  if (failed.split && !held_.contains(*failed.split)) return {};
  refuse((failed.split ? "split " + std::to_string(*failed.split) + ": " : "") +
         failed.error.message);
  say("this worker makes no more splits of job " + job_.id + ": " + refused_);
  std::vector<std::uint64_t> unmade;
  for (const auto& [split, held] : held_) {
    if (held.state == Held::State::kMaking) unmade.push_back(split);
  }
  for (const std::uint64_t split : unmade) forget(split);
  give_back(unmade, refused_, context);
  return {};
}

SplitClientRef& WorkerActor::split_client() {
  if (split_client_.receiver() == nullptr && !job_.id.empty())
    split_client_ = split_clients_.split_client(split_client_address_);
  return split_client_;
}

void WorkerActor::announce(std::uint64_t split, Held& held, Context& context) {
  held.told = context.clock().now();
  if (held.handed_on) {
    // Messages between actors of one process are not lost, so no confirmation is needed.
    if (context.tell(split_client(), HandedOn{split})) {
      ++splits_done_;
      held_.erase(split);
    }
    return;
  }
  Ready ready{.split = split,
              .bytes = forebay::bytes_of(held.frames),
              .holder = self(context),
              .sent = held.state == Held::State::kSent};
  const auto status = context.tell(split_client(), std::move(ready));
  if (!status && status.error().code != Code::kOverloaded) split_client_ = {};  // To be found anew.
}

Status WorkerActor::on(const Pull& pull, Context& context) {
  const auto held = held_.find(pull.split);
  if (held == held_.end() || held->second.state == Held::State::kMaking) return {};
  send(pull.split, held->second, context);
  return {};
}

void WorkerActor::send(std::uint64_t split, Held& held, Context& context) {
  held.told = context.clock().now();
  const auto status = context.tell(split_client(), Deliver{split, options_.name, held.frames});
  held.state = Held::State::kSent;
  if (status) return;
  if (status.error().code != Code::kOverloaded) {
    held.state = Held::State::kReady;
    split_client_ = {};
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
  if (held->second.state == Held::State::kMaking) executor_.forget(split);
  held_.erase(held);
}

void WorkerActor::give_back(const std::vector<std::uint64_t>& splits, const std::string& error,
                            Context& context) {
  if (!is_member()) return;
  // If the message is lost, the head learns it from the next heartbeat, which does not name the
  // splits.
  static_cast<void>(context.tell(head_, GiveBack{incarnation_, splits, error}));
}

}  // namespace forebay::scheduler
