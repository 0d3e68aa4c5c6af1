#include <algorithm>
#include <utility>

#include "scheduler/format_seconds.h"
#include "scheduler/split_client.h"

// Messages from workers: announcements of splits, and the splits.
namespace forebay::scheduler {
namespace {

constexpr std::size_t kMostHolders = 4;  // Of one split; a head leases it to at most two at once.

}  // namespace

Status SplitClient::on(const Ready& ready, Context& context) {
  if (ready.holder.receiver() == nullptr) {
    return fail(Code::kInvalid, "a split was announced without the worker that holds it");
  }
  const auto split = splits_.find(ready.split);
  if (split == splits_.end() || split->second.state == Split::State::kArrived) {
    ++duplicates_;
    return context.tell(ready.holder, Drop{ready.split});
  }
  auto& holders = split->second.holders;
  const bool known = std::any_of(holders.begin(), holders.end(), [&](const HolderRef& holder) {
    return holder.id() == ready.holder.id();
  });
  if (!known && holders.size() < kMostHolders) {
    holders.push_back(ready.holder);
    watch_holder(ready.holder, context);
  }
  const bool pulled_from_it = !holders.empty() && holders.front().id() == ready.holder.id();
  const bool pull_was_lost =
      split->second.state == Split::State::kPulling && pulled_from_it && !ready.sent;
  if (split->second.state == Split::State::kIssued || pull_was_lost) pull(split, context);
  return {};
}

void SplitClient::watch_holder(const HolderRef& holder, Context& context) {
  if (!watched_.insert(holder.id()).second) return;
  watch(holder, ActorRef<Down>(self(context)));
}

void SplitClient::pull(Splits::iterator split, Context& context) {
  auto& [state, since, holders] = split->second;
  state = Split::State::kIssued;
  since = context.clock().now();
  while (!holders.empty() && state == Split::State::kIssued) {
    if (context.tell(holders.front(), Pull{split->first})) {
      state = Split::State::kPulling;
    } else {
      holders.erase(holders.begin());  // When reachable again, it announces the split again.
    }
  }
}

Status SplitClient::on(Deliver&& deliver, Context& context) {
  bytes_received_ += forebay::bytes_of(deliver.frames);
  const auto split = splits_.find(deliver.split);
  if (split == splits_.end() || split->second.state == Split::State::kArrived) {
    ++duplicates_;
    return {};
  }
  auto taken = sink_.arrived(deliver.split, deliver.worker, std::move(deliver.frames));
  if (taken) {
    arrived(split, context);
    return {};
  }
  last_bad_ = "split " + std::to_string(deliver.split) + " from worker " + deliver.worker +
              " could not be read: " + taken.error().message;
  bad_at_ = context.clock().now();
  say(last_bad_);
  auto& holders = split->second.holders;
  if (!holders.empty()) {
    static_cast<void>(context.tell(holders.front(), Drop{deliver.split}));
    holders.erase(holders.begin());
  }
  pull(split, context);
  return {};
}

Status SplitClient::on(const HandedOn& handed, Context& context) {
  const auto split = splits_.find(handed.split);
  if (split == splits_.end() || split->second.state == Split::State::kArrived) return {};
  arrived(split, context);
  return {};
}

void SplitClient::arrived(Splits::iterator split, Context& context) {
  for (const HolderRef& holder : split->second.holders) {
    // Otherwise the holder announces the split again.
    static_cast<void>(context.tell(holder, Drop{split->first}));
  }
  const Time now = context.clock().now();
  split->second = {.state = Split::State::kArrived, .since = now, .holders = {}};
  --missing_;
  silent_since_ = now;
  to_arrive_.push_back(split->first);
  send_arrived(context);
}

void SplitClient::retry_late_pulls(Context& context) {
  const Time now = context.clock().now();
  for (auto split = splits_.begin(); split != splits_.end(); ++split) {
    if (split->second.state != Split::State::kPulling) continue;
    if (now - split->second.since < options_.pull_timeout) continue;
    say("split " + std::to_string(split->first) + " was asked for " +
        format_seconds(options_.pull_timeout) + " ago and has not come; it is asked for again");
    auto& holders = split->second.holders;
    std::rotate(holders.begin(), holders.begin() + 1, holders.end());
    pull(split, context);
  }
}

Status SplitClient::on(const Down& down, Context& context) {
  if (down.actor == head_.id()) {
    if (open_) reconnect({Code::kUnavailable, "the connection to it was lost"}, context);
    return {};
  }
  watched_.erase(down.actor);
  for (auto split = splits_.begin(); split != splits_.end(); ++split) {
    auto& holders = split->second.holders;
    const bool first = !holders.empty() && holders.front().id() == down.actor;
    std::erase_if(holders, [&](const HolderRef& holder) { return holder.id() == down.actor; });
    if (first && split->second.state == Split::State::kPulling) pull(split, context);
  }
  return {};
}

}  // namespace forebay::scheduler
