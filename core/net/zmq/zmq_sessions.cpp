#include "core/net/zmq/zmq_sessions.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/open_files.h"
#include "core/net/zmq/zmq_socket.h"
#include "core/wire/heartbeat.h"

namespace forebay {
namespace {

using Kind = WireHeader::Kind;

/// The maximum number of messages delivered before their actors may run. The memory of so few is
/// taken again by the next ones, from the cache.
constexpr int kGroup = 8;

std::string_view property(const zmq::message_t& message, const char* name) {
  const char* value = zmq_msg_gets(message.handle(), name);
  return value == nullptr ? std::string_view() : value;
}

}  // namespace

ZmqSessions::SessionPtr ZmqSessions::find(PeerId peer) const {
  const std::lock_guard lock(mutex_);
  const auto found = by_id_.find(static_cast<std::uint64_t>(peer));
  return found == by_id_.end() ? nullptr : found->second;
}

ZmqSessions::SessionPtr ZmqSessions::find(std::uint64_t number) const {
  const auto found = by_number_.find(number);
  return found == by_number_.end() ? nullptr : found->second;
}

void ZmqSessions::tick() {
  // Before anything else: a process that was frozen must not act on messages of its expired
  // sessions.
  end_silent();
  if (now_ >= next_beat_) beat();
  std::erase_if(handshakes_, [this](const auto& entry) {
    return now_ - entry.second.since > options_.handshake;
  });
}

void ZmqSessions::check_keys(const std::function<bool(const std::string&)>& is_listed) {
  for (const auto& [number, session] : by_number_) {
    if (!session->key.empty()) unlisted_.try_emplace(session->key, 0);
  }
  std::erase_if(unlisted_, [&](const auto& entry) { return is_listed(entry.first); });
  for (auto& [key, checks] : unlisted_) ++checks;
  std::vector<SessionPtr> removed;
  for (const auto& [number, session] : by_number_) {
    if (is_removed(session->key)) removed.push_back(session);
  }
  for (const SessionPtr& session : removed) {
    end(session, {Code::kUnavailable, "its key was removed"}, true);
  }
}

bool ZmqSessions::is_removed(const std::string& key) const {
  const auto found = unlisted_.find(key);
  return found != unlisted_.end() && found->second > 1;
}

void ZmqSessions::end_silent() {
  std::vector<SessionPtr> silent;
  for (const auto& [number, session] : by_number_) {
    if (now_ - session->last_heard > options_.heartbeat * options_.lost_after) {
      silent.push_back(session);
    }
  }
  for (const SessionPtr& session : silent) {
    ++counts_.lost;
    end(session,
        {Code::kUnavailable, "nothing was heard of the peer for " +
                                 std::to_string(options_.lost_after * options_.heartbeat.count()) +
                                 " ms"},
        true);
  }
}

ZmqSessions::Time ZmqSessions::beat_wanted() const {
  Time wanted = options_.heartbeat;
  for (const auto& [number, session] : by_number_) {
    wanted = faster_pace(wanted, session->peer_heartbeat);
  }
  return wanted;
}

void ZmqSessions::beat() {
  beat_every_ = beat_wanted();
  next_beat_ = now_ + beat_every_;
  for (const auto& [number, session] : by_number_) {
    if (!session->lanes[0].going.empty()) continue;  // A waiting message serves as a heartbeat.
    say(session->socket(0), session->lanes[0].route, {.kind = Kind::kBeat, .session = number});
  }
}

void ZmqSessions::take(const Source& source, std::span<zmq::message_t> parts) {
  const auto header = WireHeader::read(bytes_in(parts[0]));
  if (!header) return take_unauthenticated(source, parts[0]);
  switch (header->kind) {
    case Kind::kHello:
      return take_hello(source, *header, parts[0]);
    case Kind::kAccepted:
      return take_accepted(source, *header, parts[0]);
    case Kind::kBye:
      return take_bye(source, *header, bytes_in(parts[0]));
    case Kind::kData:
      return take_data(source, *header, parts);
    case Kind::kBeat:
      if (const SessionPtr session = session_of(source, *header)) {
        session->last_heard = now_;
        ++counts_.beats;
      }
  }
}

void ZmqSessions::take_unauthenticated(const Source& source, const zmq::message_t& first) {
  const auto bytes = bytes_in(first);
  const bool other = WireHeader::is_ours(bytes) && !WireHeader::has_version(bytes);
  ++(other ? counts_.other_version : counts_.garbage);
  for (const auto& [number, session] : by_number_) {
    const bool from_here = source.dialer != nullptr ? session->dialer == source.dialer
                                                    : session->lanes[0].route == source.route ||
                                                          session->lanes[1].route == source.route;
    if (!from_here) continue;
    const SessionPtr kept = session;
    end(kept, {Code::kCorrupt, "the peer sent a message that is not of this protocol"}, false);
    break;
  }
  if (source.listener != nullptr) source.listener->cut(descriptor_of(first));
}

void ZmqSessions::take_hello(const Source& source, const WireHeader& header,
                             const zmq::message_t& first) {
  if (source.listener == nullptr || header.session == 0 || by_number_.contains(header.session)) {
    ++counts_.garbage;
    return;
  }
  const std::string key(property(first, "User-Id"));
  if (is_removed(key)) {
    // ZeroMQ checks the key of a connection once; this one is older than the removal.
    source.listener->cut(descriptor_of(first));
    return;
  }
  if (!handshakes_.contains(header.session) && !source.listener->admits()) {
    return refuse_for_descriptors(source, header);
  }
  const bool full =
      by_number_.size() >= options_.max_sessions ||
      (handshakes_.size() >= options_.max_unauthenticated && !handshakes_.contains(header.session));
  if (full) {
    ++counts_.refused_sessions;
    return say(source.listener->router(), std::string(source.route),
               {.kind = Kind::kBye, .session = header.session},
               "no more than " + std::to_string(options_.max_sessions) + " peers are accepted");
  }
  Handshake& handshake = handshakes_[header.session];
  if (!handshake.routes[0] && !handshake.routes[1]) {
    handshake.listener = source.listener;
    handshake.info = {
        .address = {}, .host = std::string(property(first, "Peer-Address")), .key = key};
    handshake.since = now_;
    handshake.heartbeat = header.sequence;
  }
  if (handshake.listener != source.listener || handshake.info.key != key ||
      handshake.routes[header.lane]) {
    ++counts_.garbage;  // A peer with another key must not join this session.
    return;
  }
  handshake.routes[header.lane] = std::string(source.route);
  handshake.fds[header.lane] = descriptor_of(first);
  if (handshake.routes[0] && handshake.routes[1]) begin(header.session, handshake);
}

void ZmqSessions::refuse_for_descriptors(const Source& source, const WireHeader& header) {
  if (++counts_.out_of_descriptors == 1 && options_.say) {
    options_.say("peers are refused: descriptors run out, and " +
                 std::to_string(options_.kept_descriptors) + " of " +
                 std::to_string(descriptor_limit()) + " are kept for files; raise ulimit -n here");
  }
  say(source.listener->router(), std::string(source.route),
      {.kind = Kind::kBye, .lane = header.lane, .session = header.session},
      "its descriptors run out (ulimit -n " + std::to_string(descriptor_limit()) + " there)");
}

void ZmqSessions::begin(std::uint64_t number, Handshake& handshake) {
  auto session = std::make_shared<ZmqSession>(PeerId{++num_peers_}, number, options_.outbox);
  session->listener = handshake.listener;
  session->key = handshake.info.key;
  session->peer_heartbeat = handshake.heartbeat;
  for (std::uint8_t lane = 0; lane < 2; ++lane) {
    session->lanes[lane].route = *handshake.routes[lane];
    handshake.listener->accept(handshake.fds[lane]);
    say(handshake.listener->router(), *handshake.routes[lane],
        {.kind = Kind::kAccepted,
         .lane = lane,
         .session = number,
         .sequence = in_nanoseconds(options_.heartbeat)});
  }
  const PeerInfo info = handshake.info;
  handshakes_.erase(number);
  add_session(session, info);
}

void ZmqSessions::take_accepted(const Source& source, const WireHeader& header,
                                const zmq::message_t& first) {
  ZmqDialer* dialer = source.dialer;
  if (dialer == nullptr || !dialer->connecting() || dialer->session() != header.session ||
      source.lane != header.lane) {
    ++counts_.garbage;
    return;
  }
  if (!dialer->accepted(header.lane)) return;
  dialer->up = true;
  auto session =
      std::make_shared<ZmqSession>(PeerId{++num_peers_}, header.session, options_.outbox);
  session->dialer = dialer;
  session->peer_heartbeat = header.sequence;
  add_session(session, {.address = dialer->address(),
                        .host = std::string(property(first, "Peer-Address")),
                        .key = options_.keys ? options_.keys->server_public : ""});
}

void ZmqSessions::add_session(const SessionPtr& session, const PeerInfo& info) {
  ++counts_.sessions;
  session->last_heard = now_;
  by_number_.emplace(session->number, session);
  beat_every_ = beat_wanted();
  next_beat_ = std::min(next_beat_, now_ + beat_every_);
  {
    const std::lock_guard lock(mutex_);
    by_id_.emplace(static_cast<std::uint64_t>(session->id), session);
  }
  handler_->on_peer_up(session->id, info);
}

void ZmqSessions::take_bye(const Source& source, const WireHeader& header,
                           std::span<const std::byte> bytes) {
  std::string text;
  const bool whole = read_entries(bytes.subspan(WireHeader::kBytes), [&](auto entry) {
    text.assign(reinterpret_cast<const char*>(entry.data()),
                std::min(entry.size(), std::size_t{400}));
  });
  if (!whole) ++counts_.garbage;
  if (const SessionPtr session = session_of(source, header)) {
    return end(session, {Code::kUnavailable, "the peer ended the session: " + text}, false);
  }
  if (source.dialer != nullptr && source.dialer->session() == header.session) {
    source.dialer->refused(text);
    source.dialer->give_up(now_);
  }
}

ZmqSessions::SessionPtr ZmqSessions::session_of(const Source& source, const WireHeader& header) {
  if (SessionPtr found = find(header.session)) {
    const bool ours = source.dialer != nullptr
                          ? found->dialer == source.dialer && source.lane == header.lane
                          : found->lanes[header.lane].route == source.route;
    if (ours) return found;
  }
  if (header.kind == Kind::kBye) return nullptr;
  ++counts_.old_session;
  if (source.listener != nullptr) {
    // Lets the peer begin another session at once, instead of waiting for answers.
    say(source.listener->router(), std::string(source.route),
        {.kind = Kind::kBye, .lane = header.lane, .session = header.session},
        "this session is over or was never begun");
  }
  return nullptr;
}

void ZmqSessions::take_data(const Source& source, const WireHeader& header,
                            std::span<zmq::message_t> parts) {
  const SessionPtr session = session_of(source, header);
  if (session == nullptr) return;
  session->last_heard = now_;
  if (header.sequence != session->lanes[header.lane].received++) {
    return garbage(session, "messages of the peer were lost or repeated");
  }
  Parcel& parcel = parcel_.emplace(session, std::move(parts[0]));
  parcel.body.reserve(parts.size() - 1);
  for (zmq::message_t& part : parts.subspan(1)) {
    parcel.body.push_back(wrap(std::move(part), options_.received));
  }
  parcel.has_body = !parcel.body.empty();
}

ZmqSessions::Parcel::Parcel(SessionPtr its_session, zmq::message_t&& first)
    : session(std::move(its_session)),
      bytes(std::move(first)),
      entries(bytes_in(bytes).subspan(WireHeader::kBytes)) {}

bool ZmqSessions::deliver_some() {
  if (!parcel_) return false;
  Parcel& parcel = *parcel_;
  if (find(parcel.session->number) == nullptr) {
    parcel_.reset();
    return true;
  }
  bool more = true;
  const auto deliver = [&] {
    for (int i = 0; i < kGroup && more; ++i) {
      const auto entry = parcel.entries.next();
      more = entry.has_value();
      // Frames cannot be assigned to one of several entries.
      if (!more || (++parcel.count > 1 && parcel.has_body)) continue;
      handler_->on_message(parcel.session->id, *entry, std::exchange(parcel.body, {}));
    }
  };
  if (is_helped_) {
    deliver();  // A helping thread runs no actors: it may hold what they wait for.
  } else {
    handler_->on_messages(deliver);
  }
  if (more && !parcel.entries.at_end()) return true;
  const bool is_cut = !parcel.entries.at_end() || (parcel.has_body && parcel.count != 1);
  const SessionPtr session = std::move(parcel.session);
  parcel_.reset();
  if (is_cut) garbage(session, "a message of the peer is cut");
  return true;
}

void ZmqSessions::garbage(const SessionPtr& session, const std::string& what) {
  ++counts_.garbage;
  end(session, {Code::kCorrupt, what}, true);
}

std::size_t ZmqSessions::flush(ZmqSession& session) {
  std::size_t sent = 0;
  for (std::uint8_t lane = 0; lane < 2; ++lane) {
    ZmqSession::LaneState& state = session.lanes[lane];
    session.outbox.take(Lane{lane}, state.going);
    while (!state.going.empty()) {
      WireBuffer& parcel = state.going.front();
      const std::size_t size = parcel.size();
      const std::size_t bytes = size - WireHeader::kBytes + bytes_of(parcel.frames);
      WireHeader{
          .kind = Kind::kData, .lane = lane, .session = session.number, .sequence = state.sent}
          .write(parcel.data());
      if (!forebay::send(session.socket(lane), state.route, parcel)) break;
      ++state.sent;
      state.going.pop_front();
      session.outbox.gone(Lane{lane}, bytes);
      sent += size;
    }
  }
  return sent;
}

void ZmqSessions::say(PolledSocket& socket, const std::string& route, const WireHeader& header,
                      const std::string& text) {
  WireBuffer parcel;
  append_entry(parcel, std::as_bytes(std::span(text)));
  if (text.empty()) parcel.filled_to(parcel.data() + WireHeader::kBytes);
  header.write(parcel.data());
  static_cast<void>(forebay::send(socket, route, parcel));  // The peer may be gone.
}

void ZmqSessions::end(const SessionPtr& session, const Error& reason, bool say_bye) {
  session->outbox.end({Code::kUnavailable, reason.message});
  for (ZmqSession::LaneState& lane : session->lanes) lane.going.clear();  // Senders may keep it.
  by_number_.erase(session->number);
  {
    const std::lock_guard lock(mutex_);
    by_id_.erase(static_cast<std::uint64_t>(session->id));
  }
  if (say_bye) {
    say(session->socket(0), session->lanes[0].route,
        {.kind = Kind::kBye, .session = session->number}, reason.message);
  }
  if (session->dialer != nullptr) session->dialer->give_up(now_);
  handler_->on_peer_down(session->id, reason);
}

void ZmqSessions::end_all(const Error& reason) {
  const std::unordered_map<std::uint64_t, SessionPtr> sessions = by_number_;
  for (const auto& [number, session] : sessions) {
    flush(*session);
    end(session, reason, true);
  }
}

}  // namespace forebay
