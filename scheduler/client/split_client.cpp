#include "scheduler/client/split_client.h"

#include <algorithm>
#include <utility>

#include "core/base/text/seconds.h"
#include "scheduler/cluster_status.h"

namespace forebay::scheduler {
namespace {

/// The longest time for which a report is gathered, a fraction of what a split's messages may take.
constexpr std::chrono::milliseconds kGather(10);
/// A report is gathered until it is this share of the splits on which others still work.
constexpr std::size_t kShare = 4;

void add_finished(RangeSet& finished, const Position& position, std::uint64_t splits_per_epoch) {
  const std::uint64_t below = position.epoch * splits_per_epoch + position.split;
  finished.add_below(below);
  for (const std::uint32_t distance : position.ahead) {
    finished.add(below + distance, below + distance);
  }
}

}  // namespace

SplitClient::SplitClient(SplitClientOptions options, HeadFinder& finder, ArrivalSink& sink)
    : options_(std::move(options)), finder_(finder), sink_(sink), wanted_(options_.pull_timeout) {
  add_finished(finished_, options_.start, options_.job.splits_per_epoch);
}

Status SplitClient::on(const BeginSplitClient&, Context& context) {
  gone_since_ = context.clock().now();
  why_not_open_ = "it has not answered yet";
  open(context);
  context.after(options_.period, SplitClientTick{});
  return {};
}

Status SplitClient::on(const SplitClientTick&, Context& context) {
  context.after(options_.period, SplitClientTick{});
  const Time now = context.clock().now();
  if (!open_ && !asking_ && now >= next_reconnect_) open(context);
  retry_late_pulls(context);
  if (open_ && finished_changed_) send_finished(context);
  if (open_ && now - heard_ >= options_.ask_timeout) ask_for_session(context);
  if (ending_ && (closing_ || !open_) && now >= close_by_) finish_closing(context);
  return {};
}

Status SplitClient::on(const IssueSplits& issue, Context& context) {
  const Time now = context.clock().now();
  for (const std::uint64_t number : issue.splits) {
    if (finished_.contains(number)) continue;
    if (wanted_.issue(number, now)) to_issue_.push_back(number);
  }
  gather(kShare * to_issue_.size() >= wanted_.num_missing(), context);
  return {};
}

// The trainer may finish a split of this process before the worker's HandedOn arrives here. Report
// the split's arrival to the head anyway; otherwise its lease would never end.
void SplitClient::forget(std::uint64_t split, Context& context) {
  if (wanted_.missing(split) != nullptr) {
    arrived(split, context);
    report(context);
  }
  wanted_.forget(split);
}

// Each report wakes threads of three processes, so those of a stream of splits are sent together.
void SplitClient::gather(bool enough, Context& context) {
  if (enough) return report(context);
  if (std::exchange(will_report_, true)) return;
  context.after(kGather, ReportGathered{});
}

Status SplitClient::on(const ReportGathered&, Context& context) {
  will_report_ = false;
  report(context);
  return {};
}

// A lost Drop is no harm: its holder announces the split again.
void SplitClient::report(Context& context) {
  for (auto& [id, drop] : std::exchange(to_drop_, {})) {
    static_cast<void>(context.tell(drop.first, Drop{std::move(drop.second)}));
  }
  send_issued(context);
  send_arrived(context);
}

Status SplitClient::on(const Trained& trained, Context& context) {
  add_finished(finished_, trained.position, options_.job.splits_per_epoch);
  const std::uint64_t below = finished_.lowest_missing();
  for (const std::uint64_t split : wanted_.below(below)) forget(split, context);
  for (const std::uint32_t distance : trained.position.ahead) forget(below + distance, context);
  finished_changed_ = true;
  return {};
}

Status SplitClient::on(const EndJob& end, Context& context) {
  if (ending_) return {};
  ending_ = end.error;
  close_by_ = context.clock().now() + options_.ask_timeout;
  report(context);
  if (open_) close(context);
  return {};
}

void SplitClient::say(const std::string& sentence) const {
  if (options_.say) options_.say(sentence);
}

Result<SplitClientStatus> SplitClient::on(const QuerySplitClient&, Context& context) {
  const Time now = context.clock().now();
  SplitClientStatus status{.open = open_,
                           .session = session_,
                           .duplicates = duplicates_,
                           .bytes_received = bytes_received_,
                           .problems = {}};
  wanted_.count(status);
  if (!open_) {
    status.problems.push_back("the head has not been reached for " +
                              format_seconds(now - gone_since_) + ": " + why_not_open_);
  }
  const bool was_bad = !last_bad_.empty() && now - bad_at_ < options_.pull_timeout;
  if (was_bad) status.problems.push_back(last_bad_);
  if (std::string late = wanted_.describe_late(now); !late.empty()) {
    status.problems.push_back(std::move(late));
  }
  return status;
}

// Messages from workers: announcements of splits, and the splits.

// A worker that has not heard of this job yet may hold splits of the trainer that listened at this
// address before.
SplitClient::Split* SplitClient::missing(std::uint64_t split, const std::string& fingerprint) {
  return fingerprint == options_.job.fingerprint ? wanted_.missing(split) : nullptr;
}

Status SplitClient::on(const Ready& ready, Context& context) {
  if (ready.holder.receiver() == nullptr) {
    return fail(Code::kInvalid, "a split was announced without the worker that holds it");
  }
  Split* split = missing(ready.split, ready.fingerprint);
  if (split == nullptr) {
    ++duplicates_;
    return context.tell(ready.holder, Drop{{ready.split}});
  }
  if (wanted_.announced(*split, ready.holder)) watch_holder(ready.holder, context);
  if (ready.sent && split->state == Split::State::kIssued) {
    wanted_.on_its_way(*split, ready.holder, context.clock().now());
    return {};
  }
  const bool pull_was_lost = split->is_pulled_from(ready.holder.id()) && !ready.sent;
  if (split->state == Split::State::kIssued || pull_was_lost) pull(ready.split, context);
  return {};
}

void SplitClient::watch_holder(const HolderRef& holder, Context& context) {
  if (!watched_.insert(holder.id()).second) return;
  watch(holder, ActorRef<Down>(self(context)));
}

void SplitClient::pull(std::uint64_t number, Context& context) {
  auto& [state, since, holders] = *wanted_.missing(number);
  state = Split::State::kIssued;
  since = context.clock().now();
  while (!holders.empty() && state == Split::State::kIssued) {
    if (context.tell(holders.front(), Pull{number})) {
      state = Split::State::kPulling;
    } else {
      holders.erase(holders.begin());  // When reachable again, it announces the split again.
    }
  }
}

Status SplitClient::on(Deliver&& deliver, Context& context) {
  if (deliver.holder.receiver() == nullptr) {
    return fail(Code::kInvalid, "a split was delivered without the worker that holds it");
  }
  bytes_received_ += forebay::bytes_of(deliver.frames);
  Split* split = missing(deliver.split, deliver.fingerprint);
  if (split == nullptr) {
    ++duplicates_;
    return context.tell(deliver.holder, Drop{{deliver.split}});
  }
  auto taken = sink_.arrived(deliver.split, deliver.worker, std::move(deliver.frames));
  if (taken) {
    sink_.has_used(deliver.worker, deliver.pid, deliver.use);
    wanted_.announced(*split, deliver.holder);
    arrived(deliver.split, context);
    gather(kShare * to_drop_[deliver.holder.id()].second.size() >= deliver.left, context);
    return {};
  }
  refuse(deliver, taken.error(), context);
  return {};
}

void SplitClient::refuse(const Deliver& deliver, const Error& why, Context& context) {
  last_bad_ = "split " + std::to_string(deliver.split) + " from worker " + deliver.worker +
              " could not be read: " + why.message;
  bad_at_ = context.clock().now();
  say(last_bad_);
  auto& holders = wanted_.missing(deliver.split)->holders;
  std::erase(holders, deliver.holder);
  static_cast<void>(context.tell(deliver.holder, Drop{{deliver.split}}));
  pull(deliver.split, context);
}

Status SplitClient::on(const HandedOn& handed, Context& context) {
  if (wanted_.missing(handed.split) == nullptr) return {};
  arrived(handed.split, context);
  report(context);
  return {};
}

void SplitClient::arrived(std::uint64_t split, Context& context) {
  for (const HolderRef& holder : wanted_.arrived(split, context.clock().now())) {
    auto& [to, splits] = to_drop_[holder.id()];
    to = holder;
    splits.push_back(split);
  }
  to_arrive_.push_back(split);
}

void SplitClient::retry_late_pulls(Context& context) {
  for (const std::uint64_t split : wanted_.late_pulls(context.clock().now())) {
    say("split " + std::to_string(split) + " was asked for " +
        format_seconds(options_.pull_timeout) + " ago and has not come; it is asked for again");
    auto& holders = wanted_.missing(split)->holders;
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
  for (const std::uint64_t split : wanted_.lose(down.actor)) pull(split, context);
  return {};
}

// Messages to the head; all are repeated after the head has restarted.

void SplitClient::open(Context& context) {
  next_reconnect_ = context.clock().now() + options_.reconnect;
  HeadRef head = finder_.head();
  if (head.receiver() == nullptr) return;
  head_ = std::move(head);
  asking_ = true;
  ++opening_;
  issuing_ = arriving_ = finishing_ = false;
  // OpenJob contains everything, so no report is pending. If the head does not receive it, the next
  // OpenJob contains everything again.
  to_issue_.clear();
  to_arrive_.clear();
  finished_changed_ = false;
  OpenJob open{.job = options_.job,
               .finished_below = finished_.lowest_missing(),
               .finished = finished_.ahead(),
               .issued = wanted_.ranges(),
               .arrived = wanted_.arrived(),
               .split_client_address = options_.address,
               .split_client = self(context),
               .min_workers = options_.min_workers};
  context.ask(head_, std::move(open), options_.ask_timeout, self(context), opening_);
}

Status SplitClient::on(const Answered<OpenJob>& answer, Context& context) {
  if (answer.token != opening_ || !asking_) return {};
  asking_ = false;
  if (!answer.result) {
    reconnect(answer.result.error(), context);
    return {};
  }
  open_ = true;
  session_ = answer.result->session;
  heard_ = context.clock().now();
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

void SplitClient::reconnect(const Error& why, Context& context) {
  if (open_) gone_since_ = context.clock().now();
  if (why.message != why_not_open_) say("the head cannot be used: " + why.message);
  why_not_open_ = why.message;
  open_ = false;
  asking_ = false;
  ++opening_;
  next_reconnect_ = context.clock().now() + options_.reconnect;
}

// Only one message of each kind is in flight; later changes are sent after it was answered.
template <class Word>
void SplitClient::tell_head(Word word, bool& on_its_way, Context& context) {
  on_its_way = true;
  context.ask(head_, std::move(word), options_.ask_timeout, self(context), opening_);
}

template <class Word>
Status SplitClient::heard(const Answered<Word>& answer, bool& on_its_way, Context& context) {
  if (!is_current(answer.token)) return {};
  on_its_way = false;
  if (!answer.result) {
    reconnect(answer.result.error(), context);
    return {};
  }
  heard_ = context.clock().now();
  if (!will_report_) report(context);
  return {};
}

void SplitClient::send_issued(Context& context) {
  if (open_ && !to_issue_.empty()) ask_for_session(context);
}

// An Issue without splits asks whether the head still knows this session.
void SplitClient::ask_for_session(Context& context) {
  if (issuing_) return;
  tell_head(Issue{std::exchange(to_issue_, {}), session_}, issuing_, context);
}

void SplitClient::send_arrived(Context& context) {
  if (!open_ || arriving_ || to_arrive_.empty()) return;
  tell_head(Arrived{std::exchange(to_arrive_, {}), session_}, arriving_, context);
}

// Finished is sent at most once a period: the next tick sends later changes.
void SplitClient::send_finished(Context& context) {
  if (!open_ || finishing_) return;
  finished_changed_ = false;
  tell_head(Finished{finished_.lowest_missing(), finished_.ahead(), session_}, finishing_, context);
}

Status SplitClient::on(const Answered<Issue>& answer, Context& context) {
  return heard(answer, issuing_, context);
}

Status SplitClient::on(const Answered<Arrived>& answer, Context& context) {
  return heard(answer, arriving_, context);
}

Status SplitClient::on(const Answered<Finished>& answer, Context& context) {
  return heard(answer, finishing_, context);
}

void SplitClient::close(Context& context) {
  if (std::exchange(closing_, true)) return;
  close_by_ = context.clock().now() + options_.ask_timeout;
  send_finished(context);
  context.ask(head_, CloseJob{options_.job.id, *ending_, session_}, options_.ask_timeout,
              self(context), opening_);
}

// The trainer ends whatever the head answers: a head that missed the message waits for it for
// `rejoin`.
Status SplitClient::on(const Answered<CloseJob>&, Context& context) {
  finish_closing(context);
  return {};
}

void SplitClient::finish_closing(Context& context) {
  context.stop();
  if (options_.on_closed) options_.on_closed();
}

}  // namespace forebay::scheduler
