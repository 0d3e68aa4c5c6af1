#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "core/base/result.h"
#include "core/wire/frame.h"

namespace forebay {

/// Names one session with another process; never used again by its transport. A peer that was lost
/// and comes back is another PeerId, and nothing of its old session is delivered any more.
enum class PeerId : std::uint64_t { kNone = 0 };

/// Messages of one lane to one peer arrive in their order; the lanes do not wait for each other.
enum class Lane : std::uint8_t {
  kControl,  ///< Small messages; heartbeats go here too.
  kBulk,     ///< Messages with frames.
};

/// What is known of a peer when its session begins.
struct PeerInfo {
  std::string address;  ///< As given to `connect`; empty for one that connected to us.
  std::string host;     ///< Where it is, as a number; empty when unknown.
  std::string key;      ///< Its public key, when it showed one.
};

/// What a transport tells whoever uses it: one call at a time, all on the transport's thread. None
/// of them may block for long: while they run no heartbeat is sent.
class TransportHandler {
 public:
  virtual ~TransportHandler() = default;

  virtual void on_peer_up(PeerId peer, const PeerInfo& info) = 0;

  /// The session is over: nothing of it comes any more, and what is sent is refused.
  virtual void on_peer_down(PeerId peer, const Error& reason) = 0;

  /// `head` is readable during the call only; `body` may be kept: its frames lie where the
  /// transport received them. Both are whatever the peer sent: check before use.
  virtual void on_message(PeerId peer, std::span<const std::byte> head, Frames body) = 0;

  /// Calls `deliver`, which calls `on_message` for each of some messages that came together.
  virtual void on_messages(const std::function<void()>& deliver) { deliver(); }
};

/// Moves messages between this process and others, each in sessions with a beginning and an end.
///
/// Owns its thread, if it has one, and its connections. Within a session no message of a lane is
/// lost, repeated or out of order: where that cannot be kept the session ends. Whoever is silent
/// for some heartbeats is lost. Any thread may call it, a handler's included.
class Transport {
 public:
  virtual ~Transport() = default;

  /// Begins to tell `handler`, which outlives the transport's stop. Once, before all below.
  virtual void start(TransportHandler& handler) = 0;

  /// Accepts peers at "HOST:PORT"; port 0 takes a free one. Returns the address as it is now.
  virtual Result<std::string> listen(const std::string& address) = 0;

  /// Keeps a session with "HOST:PORT" up from now on: tries, with back-off, until it is there, and
  /// again whenever it is lost. Refuses what can never work.
  virtual Status connect(const std::string& address) = 0;

  /// Gives up an address: its session ends, no other begins.
  virtual void disconnect(const std::string& address) = 0;

  /// Never blocks; copies `head`, keeps `body` until it has gone, without a copy. Refuses with
  /// kUnavailable when the session is over, kOverloaded when too much waits for the peer, kInvalid
  /// what is larger than any peer accepts.
  virtual Status send(PeerId peer, Lane lane, std::span<const std::byte> head, Frames body) = 0;

  /// Ends a session; the handler is told, and the peer, if it can be.
  virtual void close(PeerId peer, const std::string& reason) = 0;

  /// Ends all sessions and calls the handler no more. Not from a handler's call.
  virtual void stop() = 0;
};

}  // namespace forebay
