#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/base/clock.h"
#include "core/data/buffer_pool.h"
#include "core/net/curve_keys.h"
#include "core/net/outbox.h"
#include "core/net/transport.h"

namespace forebay {

/// Events at a transport's listeners and on its connections, counted since it was created.
struct TransportCounts {
  std::uint64_t sessions = 0;  ///< Begun.
  std::uint64_t lost = 0;      ///< Sessions that ended by silence.
  std::uint64_t beats = 0;     ///< Heartbeats received.
  std::uint64_t garbage = 0;   ///< Messages dropped: not Forebay's, truncated, out of sequence.
  std::uint64_t other_version = 0;     ///< Messages dropped: of another protocol version.
  std::uint64_t old_session = 0;       ///< Messages dropped: of a session that is over.
  std::uint64_t refused_keys = 0;      ///< Clients refused because their key is not in the folder.
  std::uint64_t refused_sessions = 0;  ///< Sessions refused beyond `max_sessions`.
  std::uint64_t cut_unauthenticated = 0;  ///< Connections closed: no session in time.
  std::uint64_t listener_paused = 0;      ///< Pauses because of too many unauthenticated peers.
  std::uint64_t out_of_descriptors = 0;   ///< Peers refused because too few descriptors were free.
};

/// Sessions over TCP by ZeroMQ: a ROUTER for each address listened at, two DEALERs (one per lane)
/// for each address connected to.
///
/// Owns a ZeroMQ context, one thread for all its sockets, and the sessions. Checks everything
/// received before using it: a frame above `max_frame_bytes` ends the connection before it is read,
/// and a message without Forebay's mark ends the session. With keys every connection uses CURVE;
/// without keys only loopback addresses are allowed (host_port.h).
class ZmqTransport : public Transport {
 public:
  struct Options {
    std::chrono::milliseconds heartbeat{250};
    int lost_after = 6;  ///< A session ends after this many silent heartbeats.
    std::chrono::milliseconds handshake{2000};   ///< Time for a session to begin after connecting.
    std::chrono::milliseconds first_retry{50};   ///< Pause after the first failed try; doubles
    std::chrono::milliseconds last_retry{2000};  ///< up to this.
    std::size_t max_frame_bytes = 256u << 20;
    std::size_t max_frames = 4096;          ///< Of one message.
    std::size_t max_sessions = 1024;        ///< Of peers that connect to us.
    std::size_t max_unauthenticated = 128;  ///< Without a session; the kernel drops more.
    int backlog = 128;         ///< Connections that the kernel queues until they are accepted.
    int queued_messages = 64;  ///< In ZeroMQ, for each direction and peer.
    /// Descriptors reserved for files, which no connection to us may take; 0: none are reserved. A
    /// peer that would take one is refused, and retries.
    std::size_t kept_descriptors = 0;
    Outbox::Limits outbox = {};
    std::optional<CurveKeys> keys = {};
    MemoryBudget* received = nullptr;  ///< Counts received frames while they are alive.
    /// Receives a sentence for the user, such as that a file holds no key. On the transport's
    /// thread.
    std::function<void(const std::string&)> say = {};
  };

  /// `clock` and the budget must outlive the transport.
  static std::unique_ptr<ZmqTransport> make(Options options, const Clock& clock);

  virtual TransportCounts counts() const = 0;
};

}  // namespace forebay
