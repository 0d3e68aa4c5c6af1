#include "scheduler/feed_actor.h"

#include <algorithm>
#include <utility>

#include "scheduler/words.h"

namespace forebay::scheduler {
namespace {

constexpr std::size_t kMostHolders = 4;  // Of one split; a head leases it to two at once at most.

void add_finished(RangeSet& finished, const Position& position, std::uint64_t splits_per_epoch) {
  const std::uint64_t below = position.epoch * splits_per_epoch + position.split;
  finished.add_below(below);
  for (const std::uint32_t distance : position.ahead) {
    finished.add(below + distance, below + distance);
  }
}

template <class Splits>
std::vector<SplitRange> ranges_of(const Splits& splits) {
  std::vector<SplitRange> ranges;
  for (const auto& [number, split] : splits) {
    if (ranges.empty() || ranges.back().last + 1 != number) {
      ranges.push_back({number, number});
    } else {
      ranges.back().last = number;
    }
  }
  return ranges;
}

}  // namespace

FeedActor::FeedActor(FeedOptions options, HeadFinder& finder, ArrivalSink& sink)
    : options_(std::move(options)), finder_(finder), sink_(sink) {
  add_finished(finished_, options_.start, options_.job.splits_per_epoch);
}

Status FeedActor::on(const BeginFeed&, Context& context) {
  gone_since_ = context.clock().now();
  why_not_open_ = "it has not answered yet";
  open(context);
  context.after(options_.period, FeedTick{});
  return {};
}

Status FeedActor::on(const FeedTick&, Context& context) {
  context.after(options_.period, FeedTick{});
  const Time now = context.clock().now();
  if (!open_ && !asking_ && now >= next_knock_) open(context);
  retry_late_pulls(context);
  if (open_ && finished_changed_) send_finished(context);
  if (ending_ && (closing_ || !open_) && now >= close_by_) finish_closing(context);
  return {};
}

// ---- what comes from workers ----

Status FeedActor::on(const Ready& ready, Context& context) {
  if (ready.holder.receiver() == nullptr) {
    return fail(Code::kInvalid, "a split was announced by nobody");
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

void FeedActor::watch_holder(const HolderRef& holder, Context& context) {
  if (!watched_.insert(holder.id()).second) return;
  watch(holder, ActorRef<Down>(self(context)));
}

void FeedActor::pull(Splits::iterator split, Context& context) {
  auto& [state, since, holders] = split->second;
  state = Split::State::kIssued;
  since = context.clock().now();
  while (!holders.empty() && state == Split::State::kIssued) {
    if (context.tell(holders.front(), Pull{split->first})) {
      state = Split::State::kPulling;
    } else {
      holders.erase(holders.begin());  // It announces the split again when it can be reached.
    }
  }
}

Status FeedActor::on(Deliver&& deliver, Context& context) {
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

Status FeedActor::on(const HandedOn& handed, Context& context) {
  const auto split = splits_.find(handed.split);
  if (split == splits_.end() || split->second.state == Split::State::kArrived) return {};
  arrived(split, context);
  return {};
}

void FeedActor::arrived(Splits::iterator split, Context& context) {
  for (const HolderRef& holder : split->second.holders) {
    static_cast<void>(context.tell(holder, Drop{split->first}));  // Else it announces it again.
  }
  split->second = {.state = Split::State::kArrived, .since = context.clock().now(), .holders = {}};
  to_arrive_.push_back(split->first);
  send_arrived(context);
}

void FeedActor::retry_late_pulls(Context& context) {
  const Time now = context.clock().now();
  for (auto split = splits_.begin(); split != splits_.end(); ++split) {
    if (split->second.state != Split::State::kPulling) continue;
    if (now - split->second.since < options_.pull_timeout) continue;
    say("split " + std::to_string(split->first) + " was asked for " +
        in_seconds(options_.pull_timeout) + " ago and has not come; it is asked for again");
    auto& holders = split->second.holders;
    std::rotate(holders.begin(), holders.begin() + 1, holders.end());
    pull(split, context);
  }
}

Status FeedActor::on(const MemberChanged& change, Context&) {
  // The head says what happens to its members; the feed has its own eyes on who holds what.
  static_cast<void>(change);
  return {};
}

Status FeedActor::on(const Down& down, Context& context) {
  if (down.actor == head_.id()) {
    if (open_) knock({Code::kUnavailable, "the connection to it was lost"}, context);
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

// ---- what comes from the pipeline ----

Status FeedActor::on(const IssueSplits& issue, Context& context) {
  const Time now = context.clock().now();
  for (const std::uint64_t number : issue.splits) {
    if (finished_.contains(number)) continue;
    const bool fresh = splits_.try_emplace(number, Split{.since = now}).second;
    if (fresh) to_issue_.push_back(number);
  }
  send_issued(context);
  return {};
}

// The trainer may be done with a split of this process before its maker's HandedOn is here: the
// head hears of its arrival all the same, or its lease would never end.
FeedActor::Splits::iterator FeedActor::forget(Splits::iterator split, Context& context) {
  if (split->second.state != Split::State::kArrived) arrived(split, context);
  return splits_.erase(split);
}

Status FeedActor::on(const Consumed& consumed, Context& context) {
  add_finished(finished_, consumed.position, options_.job.splits_per_epoch);
  const std::uint64_t below = finished_.lowest_missing();
  auto split = splits_.begin();
  while (split != splits_.end() && split->first < below) split = forget(split, context);
  for (const std::uint32_t distance : consumed.position.ahead) {
    const auto ahead = splits_.find(below + distance);
    if (ahead != splits_.end()) forget(ahead, context);
  }
  finished_changed_ = true;
  return {};
}

Status FeedActor::on(const EndJob& end, Context& context) {
  if (ending_) return {};
  ending_ = end.error;
  close_by_ = context.clock().now() + options_.ask_timeout;
  if (open_) close(context);
  return {};
}

// ---- the head ----

void FeedActor::open(Context& context) {
  next_knock_ = context.clock().now() + options_.knock;
  HeadRef head = finder_.head();
  if (head.receiver() == nullptr) return;
  head_ = std::move(head);
  asking_ = true;
  ++opening_;
  issuing_ = arriving_ = finishing_ = false;
  // What is told here need not be told again, unless nobody hears it; then all of it is.
  to_issue_.clear();
  to_arrive_.clear();
  finished_changed_ = false;
  OpenJob open{.job = options_.job,
               .finished_below = finished_.lowest_missing(),
               .finished = finished_.ahead(),
               .issued = ranges_of(splits_),
               .arrived = {},
               .feed_address = options_.address,
               .feed = self(context)};
  for (const auto& [number, split] : splits_) {
    if (split.state == Split::State::kArrived) open.arrived.push_back(number);
  }
  context.ask(head_, std::move(open), options_.ask_timeout, self(context), opening_);
}

Status FeedActor::on(const Answered<OpenJob>& answer, Context& context) {
  if (answer.token != opening_ || !asking_) return {};
  asking_ = false;
  if (!answer.result) {
    knock(answer.result.error(), context);
    return {};
  }
  open_ = true;
  session_ = answer.result->session;
  why_not_open_.clear();
  watch(head_, ActorRef<Down>(self(context)));
  if (ending_) {
    close(context);
    return {};
  }
  send_issued(context);
  send_arrived(context);
  return {};
}

void FeedActor::knock(const Error& why, Context& context) {
  if (open_) gone_since_ = context.clock().now();
  if (why.message != why_not_open_) say("the head cannot be used: " + why.message);
  why_not_open_ = why.message;
  open_ = false;
  asking_ = false;
  ++opening_;
  next_knock_ = context.clock().now() + options_.knock;
}

void FeedActor::send_issued(Context& context) {
  if (!open_ || issuing_ || to_issue_.empty()) return;
  issuing_ = true;
  context.ask(head_, Issue{std::exchange(to_issue_, {}), session_}, options_.ask_timeout,
              self(context), opening_);
}

void FeedActor::send_arrived(Context& context) {
  if (!open_ || arriving_ || to_arrive_.empty()) return;
  arriving_ = true;
  context.ask(head_, Arrived{std::exchange(to_arrive_, {}), session_}, options_.ask_timeout,
              self(context), opening_);
}

void FeedActor::send_finished(Context& context) {
  if (!open_ || finishing_) return;
  finishing_ = true;
  finished_changed_ = false;
  context.ask(head_, Finished{finished_.lowest_missing(), finished_.ahead(), session_},
              options_.ask_timeout, self(context), opening_);
}

Status FeedActor::on(const Answered<Issue>& answer, Context& context) {
  if (!is_current(answer.token)) return {};
  issuing_ = false;
  if (!answer.result) {
    knock(answer.result.error(), context);
  } else {
    send_issued(context);
  }
  return {};
}

Status FeedActor::on(const Answered<Arrived>& answer, Context& context) {
  if (!is_current(answer.token)) return {};
  arriving_ = false;
  if (!answer.result) {
    knock(answer.result.error(), context);
  } else {
    send_arrived(context);
  }
  return {};
}

Status FeedActor::on(const Answered<Finished>& answer, Context& context) {
  if (!is_current(answer.token)) return {};
  finishing_ = false;
  if (!answer.result) knock(answer.result.error(), context);
  return {};
}

void FeedActor::close(Context& context) {
  if (std::exchange(closing_, true)) return;
  close_by_ = context.clock().now() + options_.ask_timeout;
  send_finished(context);
  context.ask(head_, CloseJob{options_.job.id, *ending_, session_}, options_.ask_timeout,
              self(context), opening_);
}

// Whatever the head says, the trainer goes: a head that did not hear it misses it for `rejoin`.
Status FeedActor::on(const Answered<CloseJob>&, Context& context) {
  finish_closing(context);
  return {};
}

void FeedActor::finish_closing(Context& context) {
  context.stop();
  if (options_.on_closed) options_.on_closed();
}

void FeedActor::say(const std::string& sentence) const {
  if (options_.say) options_.say(sentence);
}

Result<FeedStatus> FeedActor::on(const QueryFeed&, Context& context) {
  const Time now = context.clock().now();
  FeedStatus status{.open = open_,
                    .session = session_,
                    .duplicates = duplicates_,
                    .bytes_received = bytes_received_,
                    .problems = {}};
  for (const auto& [number, split] : splits_) {
    status.issued += split.state == Split::State::kIssued ? 1 : 0;
    status.pulling += split.state == Split::State::kPulling ? 1 : 0;
    status.arrived += split.state == Split::State::kArrived ? 1 : 0;
  }
  if (!open_) {
    status.problems.push_back("the head has not been reached for " + in_seconds(now - gone_since_) +
                              ": " + why_not_open_);
  }
  const bool was_bad = !last_bad_.empty() && now - bad_at_ < options_.pull_timeout;
  if (was_bad) status.problems.push_back(last_bad_);
  const auto lowest = std::find_if(splits_.begin(), splits_.end(), [](const auto& split) {
    return split.second.state != Split::State::kArrived;
  });
  if (lowest == splits_.end()) return status;
  const bool pulling = lowest->second.state == Split::State::kPulling;
  // To make a split may take its time, to carry it may not.
  if (now - lowest->second.since > options_.pull_timeout / (pulling ? 3 : 1)) {
    status.problems.push_back(
        "split " + std::to_string(lowest->first) +
        (pulling ? " is on its way since " : " was not announced by any worker for ") +
        in_seconds(now - lowest->second.since));
  }
  return status;
}

}  // namespace forebay::scheduler
