#include "scheduler/head_state.h"

#include <utility>

namespace forebay::scheduler {
namespace {

/// Whether `below` and `ranges` name only splits of a job with `splits` splits.
bool fit(std::uint64_t below, const std::vector<SplitRange>& ranges, std::uint64_t splits) {
  if (below > splits) return false;
  for (const SplitRange& range : ranges) {
    if (range.last < range.first || range.last >= splits) return false;
  }
  return true;
}

void add_all(RangeSet& set, std::uint64_t below, const std::vector<SplitRange>& ranges) {
  set.add_below(below);
  for (const SplitRange& range : ranges) set.add(range.first, range.last);
}

std::string session_text(std::uint64_t session) { return "session " + std::to_string(session); }

}  // namespace

Status HeadState::apply(const Event& event) {
  return std::visit([this](const auto& one) { return apply_one(one); }, event);
}

std::uint64_t HeadState::epoch() const {
  return job_.splits_per_epoch == 0 ? 0 : finished_.lowest_missing() / job_.splits_per_epoch;
}

Status HeadState::apply_one(const JobOpening& event) {
  if (event.job.id.empty()) return fail(Code::kInvalid, "a job without an id cannot be opened");
  if (event.session <= session_) {
    return fail(Code::kInvalid, session_text(event.session) + " is not after " +
                                    session_text(session_) + ", the last one");
  }
  const std::uint64_t splits = event.job.splits_per_epoch * event.job.epochs;
  if (!fit(event.finished_below, event.finished, splits)) {
    return fail(Code::kInvalid, "job " + event.job.id + " has " + std::to_string(splits) +
                                    " splits, its position names others");
  }
  job_ = event.job;
  open_ = true;
  session_ = event.session;
  finished_ = {};
  add_all(finished_, event.finished_below, event.finished);
  return {};
}

Status HeadState::apply_one(const SplitsFinished& event) {
  if (!open_ || event.session != session_) {
    return fail(Code::kNotFound, session_text(event.session) + " is over; open the job again");
  }
  if (!fit(event.below, event.ranges, num_splits())) {
    return fail(Code::kInvalid, "splits were said to be finished that job " + job_.id + " has not");
  }
  add_all(finished_, event.below, event.ranges);
  return {};
}

Status HeadState::apply_one(const JobClosing& event) {
  if (!open_ || event.session != session_) {
    return fail(Code::kNotFound, session_text(event.session) + " is over already");
  }
  open_ = false;
  return {};
}

Status HeadState::apply_one(const NodeJoined& event) {
  if (event.incarnation <= last_incarnation_) {
    return fail(Code::kInvalid,
                "incarnation " + std::to_string(event.incarnation) + " was given before");
  }
  last_incarnation_ = event.incarnation;
  nodes_[event.incarnation] = {event.incarnation, event.name, event.host};
  return {};
}

Status HeadState::apply_one(const NodeLeft& event) {
  if (nodes_.erase(event.incarnation) == 0) {
    return fail(Code::kNotFound,
                "incarnation " + std::to_string(event.incarnation) + " is no member");
  }
  return {};
}

Status HeadState::apply_one(const LearnedStateSaved& event) {
  if (event.key.empty()) return fail(Code::kInvalid, "experience needs a key");
  learned_state_[event.key] = event.text;
  return {};
}

}  // namespace forebay::scheduler
