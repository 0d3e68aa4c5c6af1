#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "core/net/outbox.h"
#include "core/net/transport.h"
#include "core/net/zmq_dialer.h"
#include "core/net/zmq_listener.h"

namespace forebay {

/// One session. Belongs to the transport's thread, but any thread may fill its outbox.
struct ZmqSession {
  struct LaneState {
    std::string route;  // of the peer's socket at our router; empty on the dialler's side
    std::deque<OutMessage> going;
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
  };

  ZmqSession(PeerId peer, std::uint64_t session, const Outbox::Limits& limits)
      : id(peer), number(session), outbox(limits) {}

  const PeerId id;
  const std::uint64_t number;
  Outbox outbox;
  std::array<LaneState, 2> lanes;
  std::chrono::nanoseconds last_heard{0};
  std::chrono::nanoseconds last_sent{0};
  std::uint64_t peer_heartbeat = 0;  // ns; the heartbeat that the peer asks of us; 0: not given
  ZmqDialer* dialer = nullptr;       // either `dialer` or `listener` is set
  ZmqListener* listener = nullptr;
  // Why the session is to end, after its waiting messages are sent; nothing: it goes on.
  std::optional<std::string> closing;

  PolledSocket& socket(std::size_t lane) const {
    return dialer != nullptr ? *dialer->socket(lane) : listener->router();
  }
  bool has_unsent() const { return !lanes[0].going.empty() || !lanes[1].going.empty(); }
};

}  // namespace forebay
