#include <utility>

#include "core/wire/codec.h"
#include "scheduler/head_state.h"

// The stored form of a HeadState and its events: one byte for the kind, then the fields as the
// codec writes them. A new kind gets the next number; a new field goes to the end.
namespace forebay::scheduler {
namespace {

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
