#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/base/clock.h"
#include "core/data/memory_budget.h"
#include "core/net/curve_keys.h"
#include "core/net/outbox.h"
#include "core/net/transport.h"

namespace forebay {

/// What happened at a transport's listeners and on its connections, since it began.
struct TransportCounts {
  std::uint64_t sessions = 0;             ///< Begun.
  std::uint64_t lost = 0;                 ///< Of those, ended by silence.
  std::uint64_t beats = 0;                ///< That came.
  std::uint64_t garbage = 0;              ///< Messages dropped: not ours, cut, out of sequence.
  std::uint64_t other_version = 0;        ///< Messages dropped: of another protocol version.
  std::uint64_t old_session = 0;          ///< Messages dropped: of a session that is over.
  std::uint64_t refused_keys = 0;         ///< Clients whose key is not let in.
  std::uint64_t refused_sessions = 0;     ///< Beyond `max_sessions`.
  std::uint64_t cut_unauthenticated = 0;  ///< Connections cut that began no session in time.
  std::uint64_t listener_paused = 0;      ///< Times that too many were unauthenticated.
  std::uint64_t out_of_descriptors = 0;   ///< Peers refused for want of descriptors.
};

/// Sessions over TCP by ZeroMQ: a ROUTER where it listens, two DEALERs (one a lane) where it
/// connects.
///
/// Owns a ZeroMQ context, one thread for all its sockets, and the sessions. Nothing that comes is
/// believed before it is checked: frames above `max_frame_bytes` end the connection before they are
/// read, what does not begin with our mark ends the session. With keys every connection is CURVE's;
/// without them only loopback is opened (host_port.h).
class ZmqTransport final : public Transport {
 public:
  struct Options {
    std::chrono::milliseconds heartbeat{250};
    int lost_after = 6;                          ///< Silent heartbeats that end a session.
    std::chrono::milliseconds handshake{2000};   ///< For a session to begin, once connected.
    std::chrono::milliseconds first_retry{50};   ///< After a failed try; doubles
    std::chrono::milliseconds last_retry{2000};  ///< up to this.
    std::size_t max_frame_bytes = 256u << 20;
    std::size_t max_frames = 4096;          ///< Of one message.
    std::size_t max_sessions = 1024;        ///< Of peers that connect to us.
    std::size_t max_unauthenticated = 128;  ///< Without a session; the kernel drops more.
    int backlog = 128;                      ///< Connections the kernel keeps for us meanwhile.
    int queued_messages = 64;               ///< In ZeroMQ, each way and peer.
    /// Descriptors that no connection to us may take, since files need them; 0: none. Peers that
    /// would are refused, and try again.
    std::size_t kept_descriptors = 0;
    Outbox::Limits outbox = {};
    std::optional<CurveKeys> keys = {};
    MemoryBudget* received = nullptr;  ///< Counts the frames that were received and live.
    /// Gets a sentence for the user, such as that a file holds no key. On the transport's thread.
    std::function<void(const std::string&)> say = {};
  };

  /// `clock` and the budget outlive the transport.
  ZmqTransport(Options options, const Clock& clock);
  ~ZmqTransport() override;
  ZmqTransport(const ZmqTransport&) = delete;
  ZmqTransport& operator=(const ZmqTransport&) = delete;

  void start(TransportHandler& handler) override;
  Result<std::string> listen(const std::string& address) override;
  Status connect(const std::string& address) override;
  void disconnect(const std::string& address) override;
  Status send(PeerId peer, Lane lane, std::span<const std::byte> head, Frames body) override;
  void close(PeerId peer, const std::string& reason) override;
  void stop() override;

  TransportCounts counts() const;

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace forebay
