#include "scheduler/split_client.h"

#include <algorithm>
#include <utility>

#include "scheduler/format_seconds.h"

namespace forebay::scheduler {
namespace {

void add_finished(RangeSet& finished, const Position& position, std::uint64_t splits_per_epoch) {
  const std::uint64_t below = position.epoch * splits_per_epoch + position.split;
  finished.add_below(below);
  for (const std::uint32_t distance : position.ahead) {
    finished.add(below + distance, below + distance);
  }
}

}  // namespace

SplitClient::SplitClient(SplitClientOptions options, HeadFinder& finder, ArrivalSink& sink)
    : options_(std::move(options)), finder_(finder), sink_(sink) {
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
    if (!splits_.try_emplace(number, Split{.since = now}).second) continue;
    if (missing_++ == 0) silent_since_ = now;
    to_issue_.push_back(number);
  }
  send_issued(context);
  return {};
}

// The trainer may finish a split of this process before the worker's HandedOn arrives here. Report
// the split's arrival to the head anyway; otherwise its lease would never end.
SplitClient::Splits::iterator SplitClient::forget(Splits::iterator split, Context& context) {
  if (split->second.state != Split::State::kArrived) arrived(split, context);
  return splits_.erase(split);
}

Status SplitClient::on(const Trained& trained, Context& context) {
  add_finished(finished_, trained.position, options_.job.splits_per_epoch);
  const std::uint64_t below = finished_.lowest_missing();
  auto split = splits_.begin();
  while (split != splits_.end() && split->first < below) split = forget(split, context);
  for (const std::uint32_t distance : trained.position.ahead) {
    const auto ahead = splits_.find(below + distance);
    if (ahead != splits_.end()) forget(ahead, context);
  }
  finished_changed_ = true;
  return {};
}

Status SplitClient::on(const EndJob& end, Context& context) {
  if (ending_) return {};
  ending_ = end.error;
  close_by_ = context.clock().now() + options_.ask_timeout;
  if (open_) close(context);
  return {};
}

void SplitClient::say(const std::string& sentence) const {
  if (options_.say) options_.say(sentence);
}

bool SplitClient::is_late(const Split& split, Time now) const {
  if (split.state == Split::State::kArrived) return false;
  // Making a split may take long, but transferring it may not.
  const int share = split.state == Split::State::kPulling ? 3 : 1;
  return now - split.since > options_.pull_timeout / share;
}

// Finds the lowest split that is late, even if lower splits are not: a split that a worker has not
// begun must not hide a stuck one that blocks this worker. It is also possible that no split is
// late and yet none arrives, as links and workers come and go; then takes the lowest missing split.
std::string SplitClient::what_is_late(Time now) const {
  const auto describe_split = [now](const Splits::value_type& one) {
    const bool pulling = one.second.state == Split::State::kPulling;
    return "split " + std::to_string(one.first) +
           (pulling ? " has been on its way for " : " was not announced by any worker for ") +
           format_seconds(now - one.second.since);
  };
  const auto late = std::find_if(splits_.begin(), splits_.end(),
                                 [&](const auto& one) { return is_late(one.second, now); });
  if (late != splits_.end()) return describe_split(*late);
  if (missing_ == 0 || now - silent_since_ <= options_.pull_timeout / 2) return {};
  const auto missing = std::find_if(splits_.begin(), splits_.end(), [](const auto& one) {
    return one.second.state != Split::State::kArrived;
  });
  return "no split has come for " + format_seconds(now - silent_since_) + ": " +
         describe_split(*missing);
}

Result<SplitClientStatus> SplitClient::on(const QuerySplitClient&, Context& context) {
  const Time now = context.clock().now();
  SplitClientStatus status{.open = open_,
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
    status.problems.push_back("the head has not been reached for " +
                              format_seconds(now - gone_since_) + ": " + why_not_open_);
  }
  const bool was_bad = !last_bad_.empty() && now - bad_at_ < options_.pull_timeout;
  if (was_bad) status.problems.push_back(last_bad_);
  if (std::string late = what_is_late(now); !late.empty()) {
    status.problems.push_back(std::move(late));
  }
  return status;
}

}  // namespace forebay::scheduler
