#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "core/base/result.h"
#include "core/base/thread/waiting_work.h"
#include "core/wire/frame.h"

namespace forebay {

/// Names one session with another process. A transport never uses an id again: a peer that
/// reconnects has another PeerId, and no message of its old session is delivered any more.
enum class PeerId : std::uint64_t { kNone = 0 };

/// Messages of one lane to one peer arrive in order; the two lanes do not wait for each other.
enum class Lane : std::uint8_t {
  kControl,  ///< Small messages, including heartbeats.
  kBulk,     ///< Messages with frames.
};

/// What is known about a peer when its session begins.
struct PeerInfo {
  std::string address;  ///< As given to `connect`; empty if the peer connected to us.
  std::string host;     ///< The peer's numeric IP address; empty if unknown.
  std::string key;      ///< The peer's public key, if it presented one.
};

/// The callbacks of a transport's user. The transport makes one call at a time, on its own thread
/// or one that waits (waiting_work). No callback but do_work() may block for long: no heartbeat is
/// sent while it runs.
class TransportHandler {
 public:
  virtual ~TransportHandler() = default;

  virtual void on_peer_up(PeerId peer, const PeerInfo& info) = 0;

  /// The session is over: no more messages of it arrive, and sends are refused.
  virtual void on_peer_down(PeerId peer, const Error& reason) = 0;

  /// `head` is readable during the call only. `body` may be kept; its frames are the transport's
  /// receive buffers. Both are untrusted: check them before use.
  virtual void on_message(PeerId peer, std::span<const std::byte> head, Frames body) = 0;

  /// Calls `deliver`, which calls `on_message` for messages that arrived together. Only on a thread
  /// that will call do_work() before it waits for more.
  virtual void on_messages(const std::function<void()>& deliver) { deliver(); }

  /// Whether on_messages() left work for do_work().
  virtual bool has_work() const { return false; }

  /// Does that work on the calling thread. It may take any time: if it takes long, the transport
  /// goes on with another thread meanwhile. Where it must not, because no other thread is left, the
  /// work has to be left to others: `may_take_long` is false. Returns the time it took.
  virtual std::chrono::nanoseconds do_work(bool may_take_long) {
    static_cast<void>(may_take_long);
    return {};
  }
};

/// Sends to one session without looking it up each time. Keeps little of a session that is over;
/// must not be used after the transport's end. Thread-safe.
class SessionSender {
 public:
  virtual ~SessionSender() = default;
  /// As Transport::send to the session's peer.
  virtual Status send(Lane lane, std::span<const std::byte> head, Frames body) = 0;
};

/// Moves messages between this process and others, in sessions with a defined start and end.
///
/// Owns its thread, if it has one, and its connections. Within a session no message of a lane is
/// lost, repeated or reordered: where that cannot be kept the session ends. A peer that is silent
/// for several heartbeats is lost. Any thread may call it, also from a handler's callback.
class Transport {
 public:
  virtual ~Transport() = default;

  /// Begins to call `handler`, which must outlive stop(). Call it once, before all methods below.
  virtual void start(TransportHandler& handler) = 0;

  /// Accepts peers at "HOST:PORT"; port 0 selects a free one. Returns the actual address.
  virtual Result<std::string> listen(const std::string& address) = 0;

  /// Keeps a session with "HOST:PORT" up from now on: retries with back-off until it begins, and
  /// reconnects whenever it is lost. Refuses an address that can never work.
  virtual Status connect(const std::string& address) = 0;

  /// Ends the session with an address and stops reconnecting.
  virtual void disconnect(const std::string& address) = 0;

  /// Never blocks. Copies `head`; keeps `body`, without a copy, until it is sent. Refuses with
  /// kUnavailable when the session is over, kOverloaded when too many bytes wait for the peer,
  /// kInvalid when the message is larger than any peer accepts.
  virtual Status send(PeerId peer, Lane lane, std::span<const std::byte> head, Frames body) = 0;

  /// What sends to `peer`; refuses all if the session is over.
  virtual std::shared_ptr<SessionSender> sender(PeerId peer);

  /// Ends a session. Calls on_peer_down, and sends `reason` to the peer if it can be reached.
  virtual void close(PeerId peer, const std::string& reason) = 0;

  /// For threads that wait for messages; null if they cannot help. Any time before the end.
  virtual std::shared_ptr<WaitingWork> waiting_work() { return nullptr; }

  /// Ends all sessions; no callback follows. Must not be called from a callback.
  virtual void stop() = 0;
};

/// The sender of a transport that looks the session up each time.
class LookupSender final : public SessionSender {
 public:
  LookupSender(Transport& transport, PeerId peer) : transport_(transport), peer_(peer) {}
  Status send(Lane lane, std::span<const std::byte> head, Frames body) override {
    return transport_.send(peer_, lane, head, std::move(body));
  }

 private:
  Transport& transport_;
  const PeerId peer_;
};

inline std::shared_ptr<SessionSender> Transport::sender(PeerId peer) {
  return std::make_shared<LookupSender>(*this, peer);
}

}  // namespace forebay
