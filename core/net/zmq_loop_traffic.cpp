#include <algorithm>
#include <utility>

#include "core/base/open_files.h"
#include "core/net/zmq_loop.h"
#include "core/wire/heartbeat.h"

namespace forebay {
namespace {

using Kind = WireHeader::Kind;

/// The maximum number of messages read from one socket before the other sockets are served.
constexpr int kTurn = 64;

std::string_view property(const zmq::message_t& message, const char* name) {
  const char* value = zmq_msg_gets(message.handle(), name);
  return value == nullptr ? std::string_view() : value;
}

/// If at least this many bytes were sent at once, more are likely to follow soon.
constexpr std::size_t kStreamBytes = 1024;

/// The descriptor that a message was received on, or -1.
int source_fd(const zmq::message_t& message) { return zmq_msg_get(message.handle(), ZMQ_SRCFD); }

}  // namespace

bool ZmqTransport::Loop::receive_all() {
  bool busy = false;
  for (const auto& listener : listeners_) {
    if (listener->read_monitor(now_)) {
      busy = true;
      listener->limit_unauthenticated(now_, counts_);
    }
    busy = receive_from(*listener) || busy;
  }
  for (std::size_t i = 0; i < dialers_.size(); ++i) {
    for (std::size_t lane = 0; lane < 2; ++lane) busy = receive_from(*dialers_[i], lane) || busy;
  }
  if (zap_) busy = zap_->serve(now_) || busy;
  return busy;
}

bool ZmqTransport::Loop::receive_from(ZmqListener& listener) {
  for (int i = 0; i < kTurn; ++i) {
    const ReceiveResult came = receive(listener.router(), options_.max_frames + 2, parts_);
    if (came == ReceiveResult::kNothing) return i > 0;
    if (came == ReceiveResult::kTooMany || parts_.size() < 2) {
      ++counts_.garbage;
      listener.cut(source_fd(parts_.back()));
      continue;
    }
    const std::string route = parts_[0].to_string();
    take({.listener = &listener, .route = route}, std::span(parts_).subspan(1));
  }
  return true;
}

bool ZmqTransport::Loop::receive_from(ZmqDialer& dialer, std::size_t lane) {
  for (int i = 0; i < kTurn; ++i) {
    if (!dialer.readable(lane)) return i > 0;
    const ReceiveResult came = receive(*dialer.socket(lane), options_.max_frames + 1, parts_);
    if (came == ReceiveResult::kNothing) return i > 0;
    if (came == ReceiveResult::kTooMany) {
      ++counts_.garbage;
      continue;
    }
    take({.dialer = &dialer, .route = {}, .lane = lane}, parts_);
  }
  return true;
}

void ZmqTransport::Loop::take(const Source& source, std::span<zmq::message_t> parts) {
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

void ZmqTransport::Loop::take_unauthenticated(const Source& source, const zmq::message_t& first) {
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
  if (source.listener != nullptr) source.listener->cut(source_fd(first));
}

void ZmqTransport::Loop::take_hello(const Source& source, const WireHeader& header,
                                    const zmq::message_t& first) {
  if (source.listener == nullptr || header.session == 0 || by_number_.contains(header.session)) {
    ++counts_.garbage;
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
  const std::string key(property(first, "User-Id"));
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
  handshake.fds[header.lane] = source_fd(first);
  if (handshake.routes[0] && handshake.routes[1]) begin(header.session, handshake);
}

void ZmqTransport::Loop::refuse_for_descriptors(const Source& source, const WireHeader& header) {
  if (++counts_.out_of_descriptors == 1 && options_.say) {
    options_.say("peers are refused: descriptors run out, and " +
                 std::to_string(options_.kept_descriptors) + " of " +
                 std::to_string(descriptor_limit()) + " are kept for files; raise ulimit -n here");
  }
  say(source.listener->router(), std::string(source.route),
      {.kind = Kind::kBye, .lane = header.lane, .session = header.session},
      "its descriptors run out (ulimit -n " + std::to_string(descriptor_limit()) + " there)");
}

void ZmqTransport::Loop::begin(std::uint64_t number, Handshake& handshake) {
  auto session = std::make_shared<ZmqSession>(PeerId{++num_peers_}, number, options_.outbox);
  session->listener = handshake.listener;
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

void ZmqTransport::Loop::take_accepted(const Source& source, const WireHeader& header,
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

void ZmqTransport::Loop::add_session(const SessionPtr& session, const PeerInfo& info) {
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

void ZmqTransport::Loop::take_bye(const Source& source, const WireHeader& header,
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
    if (source.dialer->was_refused(text) && options_.say) {
      options_.say(source.dialer->address() + " refuses this node for now: " + text +
                   "; this node tries again and again");
    }
    source.dialer->give_up(now_);
  }
}

ZmqTransport::Loop::SessionPtr ZmqTransport::Loop::session_of(const Source& source,
                                                              const WireHeader& header) {
  const auto found = by_number_.find(header.session);
  if (found != by_number_.end()) {
    const ZmqSession& session = *found->second;
    const bool ours = source.dialer != nullptr
                          ? session.dialer == source.dialer && source.lane == header.lane
                          : session.lanes[header.lane].route == source.route;
    if (ours) return found->second;
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

void ZmqTransport::Loop::take_data(const Source& source, const WireHeader& header,
                                   std::span<zmq::message_t> parts) {
  const SessionPtr session = session_of(source, header);
  if (session == nullptr) return;
  session->last_heard = now_;
  if (header.sequence != session->lanes[header.lane].received++) {
    return garbage(session, "messages of the peer were lost or repeated");
  }
  Frames body;
  body.reserve(parts.size() - 1);
  for (zmq::message_t& part : parts.subspan(1)) {
    body.push_back(wrap(std::move(part), options_.received));
  }
  const bool has_body = !body.empty();
  int entries = 0;
  bool whole = false;
  const auto take_entry = [&](std::span<const std::byte> entry) {
    if (++entries > 1 && has_body) return;  // Frames cannot be assigned to one of several entries.
    handler_->on_message(session->id, entry, std::exchange(body, {}));
  };
  const auto bytes = bytes_in(parts[0]).subspan(WireHeader::kBytes);
  handler_->on_messages([&] { whole = read_entries(bytes, take_entry); });
  if (!whole || (has_body && entries != 1)) garbage(session, "a message of the peer is cut");
}

void ZmqTransport::Loop::garbage(const SessionPtr& session, const std::string& what) {
  ++counts_.garbage;
  end(session, {Code::kCorrupt, what}, true);
}

bool ZmqTransport::Loop::send_all() {
  // Sessions whose peer accepts nothing at the moment are retried once in a while.
  std::vector<SessionPtr> sessions;
  if (std::exchange(slept_, false)) sessions.swap(unsent_);
  const std::size_t blocked = sessions.size();
  {
    const std::lock_guard lock(mutex_);
    for (SessionPtr& session : announced_) {
      const auto end = sessions.begin() + static_cast<std::ptrdiff_t>(blocked);
      if (std::find(sessions.begin(), end, session) == end) sessions.push_back(std::move(session));
    }
    announced_.clear();
  }
  std::size_t sent = 0;
  for (const SessionPtr& session : sessions) {
    if (!by_number_.contains(session->number)) continue;
    session->outbox.heard();
    session->last_sent = now_;
    sent += flush(*session);
    if (session->has_unsent()) {
      if (std::ranges::find(unsent_, session) == unsent_.end()) unsent_.push_back(session);
    } else if (session->closing) {
      end(session, {Code::kUnavailable, "closed: " + *session->closing}, true);
    }
  }
  streaming_ = streaming_ || sent >= kStreamBytes;
  return sent > 0;
}

/// Returns the number of bytes sent, without frames.
std::size_t ZmqTransport::Loop::flush(ZmqSession& session) {
  std::size_t sent = 0;
  for (std::uint8_t lane = 0; lane < 2; ++lane) {
    ZmqSession::LaneState& state = session.lanes[lane];
    session.outbox.take(Lane{lane}, state.going);
    while (!state.going.empty()) {
      OutMessage& parcel = state.going.front();
      const std::size_t size = parcel.size;
      const std::size_t bytes = size - WireHeader::kBytes + bytes_of(parcel.body);
      WireHeader{
          .kind = Kind::kData, .lane = lane, .session = session.number, .sequence = state.sent}
          .write(parcel.bytes.get());
      if (forebay::send(session.socket(lane), state.route, parcel) != SendResult::kGone) break;
      ++state.sent;
      state.going.pop_front();
      session.outbox.gone(Lane{lane}, bytes);
      sent += size;
    }
  }
  return sent;
}

void ZmqTransport::Loop::say(PolledSocket& socket, const std::string& route,
                             const WireHeader& header, const std::string& text) {
  OutMessage parcel;
  parcel.append(std::as_bytes(std::span(text)));
  if (text.empty()) parcel.size = WireHeader::kBytes;
  header.write(parcel.bytes.get());
  static_cast<void>(forebay::send(socket, route, parcel));  // The peer may be gone.
}

void ZmqTransport::Loop::end(const SessionPtr& session, const Error& reason, bool say_bye) {
  session->outbox.end(reason);
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

}  // namespace forebay
