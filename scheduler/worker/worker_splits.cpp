// The states of a split: leased, made, announced, pulled, sent, confirmed.

#include <algorithm>
#include <chrono>
#include <utility>

#include "scheduler/worker/worker_actor.h"

namespace forebay::scheduler {
namespace {

constexpr std::chrono::nanoseconds kSendAgain = std::chrono::milliseconds(10);

}  // namespace

Status WorkerActor::on(const Lease& lease, Context& context) {
  if (lease.incarnation != incarnation_) return {};
  const bool can = !fingerprint_.empty() && !leave_by_ && phase_ != Phase::kRefused;
  if (!can) {
    give_back(lease.splits, "", context);
    return {};
  }
  std::vector<std::uint64_t> too_many;
  for (const std::uint64_t split : lease.splits) {
    const bool again = std::ranges::find(lease.again, split) != lease.again.end();
    if (Held* held = held_.find(split)) {
      held->again = held->again || again;
      if (held->state != Held::State::kMaking) announce(split, *held, context);
    } else if (held_.size() > executor_.slots()) {
      too_many.push_back(split);  // Takes one more than it wants: the head may need it urgently.
    } else {
      held_.begin(split, again);
    }
  }
  if (!too_many.empty()) give_back(too_many, "", context);
  return {};
}

Status WorkerActor::on(const Revoke& revoke, Context&) {
  if (revoke.incarnation != incarnation_) return {};
  held_.forget(revoke.splits);
  return {};
}

Status WorkerActor::on(WorkDone&& done, Context& context) {
  if (done.opening != opening_) return {};
  const std::uint64_t split = done.split;
  if (Held* held = held_.made(std::move(done))) hand_over(split, *held, context);
  return {};
}

Status WorkerActor::on(const WorkFailed& failed, Context& context) {
  if (failed.opening != opening_ || phase_ == Phase::kRefused) return {};
  if (failed.split && held_.find(*failed.split) == nullptr) return {};
  refuse((failed.split ? "split " + std::to_string(*failed.split) + ": " : "") +
         failed.error.message);
  say("this worker makes no more splits of job " + job_.id + ": " + refused_);
  const auto unmade = held_.unmade();
  held_.forget(unmade);
  give_back(unmade, refused_, context);
  return {};
}

SplitClientRef& WorkerActor::split_client() {
  if (split_client_.receiver() == nullptr && !job_.id.empty())
    split_client_ = split_clients_.split_client(split_client_address_);
  return split_client_;
}

// A split that no other worker can have is sent without asking: its memory was reserved when it was
// issued.
void WorkerActor::hand_over(std::uint64_t split, Held& held, Context& context) {
  const bool asks_first = held.handed_on || held.again || !is_member();
  return asks_first ? announce(split, held, context) : send(split, held, context);
}

void WorkerActor::announce(std::uint64_t split, Held& held, Context& context) {
  held.told = context.clock().now();
  if (held.handed_on) {
    // Messages between actors of one process are not lost, so no confirmation is needed.
    if (context.tell(split_client(), HandedOn{split})) {
      ++splits_done_;
      held_.forget(split);
    }
    return;
  }
  const SplitClientRef& to = split_client();
  Ready ready{.split = split,
              .bytes = forebay::bytes_of(held.frames),
              .holder = self(context),
              .sent = held.state == Held::State::kSent && held.sent_to == to.id(),
              .fingerprint = fingerprint_};
  const auto status = context.tell(to, std::move(ready));
  if (!status && status.error().code != Code::kOverloaded) split_client_ = {};  // To be found anew.
}

Status WorkerActor::on(const Pull& pull, Context& context) {
  Held* held = held_.find(pull.split);
  if (held == nullptr || held->state == Held::State::kMaking) return {};
  send(pull.split, *held, context);
  return {};
}

void WorkerActor::send(std::uint64_t split, Held& held, Context& context) {
  held.told = context.clock().now();
  held.state = Held::State::kSent;
  held.sent_to = split_client().id();
  const auto status = context.tell(split_client(), Deliver{.split = split,
                                                           .worker = options_.name,
                                                           .frames = held.frames,
                                                           .pid = options_.pid,
                                                           .use = executor_.use(),
                                                           .holder = self(context),
                                                           .left = held_.unsent(),
                                                           .fingerprint = fingerprint_});
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
  for (const std::uint64_t split : held_.pulled()) send(split, *held_.find(split), context);
  return {};
}

void WorkerActor::announce_again(Context& context) {
  const Time now = context.clock().now();
  for (const std::uint64_t split : held_.to_announce_again(now, options_.announce_again)) {
    announce(split, *held_.find(split), context);
  }
}

Status WorkerActor::on(const Drop& drop, Context& context) {
  for (const std::uint64_t split : drop.splits) {
    const Held* held = held_.find(split);
    if (held == nullptr) continue;
    if (held->state == Held::State::kSent) ++splits_done_;
    held_.forget(split);
  }
  if (leave_by_) go_on_leaving(context);
  return {};
}

void WorkerActor::give_back(const std::vector<std::uint64_t>& splits, const std::string& error,
                            Context& context) {
  if (!is_member()) return;
  // If the message is lost, the head learns it from the next heartbeat, which does not name the
  // splits.
  static_cast<void>(context.tell(head_, GiveBack{incarnation_, splits, error}));
}

}  // namespace forebay::scheduler
