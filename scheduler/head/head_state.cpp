#include "scheduler/head/head_state.h"

#include <iterator>
#include <utility>

#include "core/wire/codec.h"

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

// The stored form of a HeadState and its events: one byte for the kind, then the fields as the
// codec writes them. A new kind gets the next number; a new field goes to the end.

/// The first byte of an event is its index in HeadState::Event; the first byte of a snapshot is
/// this.
constexpr char kSnapshotKind = 'S';

struct Snapshot {
  JobShare job;
  bool open = false;
  std::uint64_t session = 0;
  std::vector<std::uint64_t> finished;  ///< RangeSet::packed().
  std::uint64_t last_incarnation = 0;
  std::vector<HeadState::Node> nodes;
  std::map<std::string, std::string> learned_state;
  static auto fields(auto& self) {
    return std::tie(self.job, self.open, self.session, self.finished, self.last_incarnation,
                    self.nodes, self.learned_state);
  }
};

template <class T>
std::string encoded(char kind, const T& value) {
  WireBuffer buffer;
  encode_value(value, buffer);
  const auto bytes = buffer.bytes();
  std::string text(1, kind);
  text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return text;
}

template <class T>
Result<T> decoded(std::string_view what, std::string_view bytes) {
  bytes.remove_prefix(1);
  return decode_value<T>(what, std::as_bytes(std::span(bytes)));
}

template <std::size_t kKind = 0>
Result<HeadState::Event> event_in(std::string_view bytes) {
  if constexpr (kKind == std::variant_size_v<HeadState::Event>) {
    return fail(Code::kCorrupt, "it is of a kind that this version does not know");
  } else {
    if (static_cast<unsigned char>(bytes.front()) != kKind) return event_in<kKind + 1>(bytes);
    auto event = decoded<std::variant_alternative_t<kKind, HeadState::Event>>("an event", bytes);
    if (!event) return pass(event);
    return HeadState::Event(std::move(*event));
  }
}

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
  const std::uint64_t splits = event.job.num_splits();
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
  nodes_[event.incarnation] = event;
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
  // Each kind of work and node has one; a head that lives for years forgets some of them.
  for (auto it = learned_state_.begin(); learned_state_.size() > kMostLearnedStates;) {
    it = it->first == event.key ? std::next(it) : learned_state_.erase(it);
  }
  return {};
}

std::string HeadState::encode_event(const Event& event) {
  return std::visit(
      [&event](const auto& one) { return encoded(static_cast<char>(event.index()), one); }, event);
}

Result<HeadState::Event> HeadState::decode_event(std::string_view bytes) {
  if (bytes.empty()) return fail(Code::kCorrupt, "it is empty");
  return event_in(bytes);
}

std::string HeadState::encode() const {
  Snapshot snapshot{.job = job_,
                    .open = open_,
                    .session = session_,
                    .finished = finished_.packed(),
                    .last_incarnation = last_incarnation_,
                    .nodes = {},
                    .learned_state = learned_state_};
  snapshot.nodes.reserve(nodes_.size());
  for (const auto& [incarnation, node] : nodes_) snapshot.nodes.push_back(node);
  return encoded(kSnapshotKind, snapshot);
}

Result<HeadState> HeadState::decode(std::string_view bytes) {
  if (bytes.empty() || bytes.front() != kSnapshotKind) {
    return fail(Code::kCorrupt,
                "the head's store was written by another version; move its folder "
                "away: a run resumes from its checkpoint without it");
  }
  auto snapshot = decoded<Snapshot>("the head's snapshot", bytes);
  if (!snapshot) return pass(snapshot);
  auto finished = RangeSet::unpack(snapshot->finished);
  if (!finished) return pass(finished);
  HeadState state;
  state.job_ = std::move(snapshot->job);
  state.open_ = snapshot->open;
  state.session_ = snapshot->session;
  state.finished_ = std::move(*finished);
  state.last_incarnation_ = snapshot->last_incarnation;
  for (Node& node : snapshot->nodes) state.nodes_[node.incarnation] = std::move(node);
  state.learned_state_ = std::move(snapshot->learned_state);
  return state;
}

}  // namespace forebay::scheduler
