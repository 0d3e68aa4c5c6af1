#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include <zmq.hpp>

#include "core/net/outbox.h"
#include "core/net/transport.h"
#include "core/net/wire_header.h"
#include "core/net/zmq/zmq_dialer.h"
#include "core/net/zmq/zmq_listener.h"
#include "core/net/zmq/zmq_transport.h"

namespace forebay {

/// One session. Belongs to the transport's thread, but any thread may fill its outbox.
struct ZmqSession {
  struct LaneState {
    std::string route;  // of the peer's socket at our router; empty on the dialler's side
    std::deque<WireBuffer> going;
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
  std::string key;  // the public key of a peer that connected to us; empty without keys
  // Why the session is to end, after its waiting messages are sent; nothing: it goes on.
  std::optional<std::string> closing;

  PolledSocket& socket(std::size_t lane) const {
    return dialer != nullptr ? *dialer->socket(lane) : listener->router();
  }
  bool has_unsent() const { return !lanes[0].going.empty() || !lanes[1].going.empty(); }
};

/// The sessions of a transport and those that are about to begin: the protocol of wire_header.h,
/// from Hello to Bye, heartbeats included.
///
/// Owns the sessions; uses the sockets of listeners and dialers, which ZmqSockets owns, and tells
/// the handler about peers and their messages. All calls but find(PeerId) belong to the thread of
/// the transport, or to a sender or a waiting thread in its place.
class ZmqSessions {
 public:
  using Time = std::chrono::nanoseconds;
  using SessionPtr = std::shared_ptr<ZmqSession>;

  /// Where a message was received.
  struct Source {
    ZmqListener* listener = nullptr;  ///< Either `listener` or `dialer` is set.
    ZmqDialer* dialer = nullptr;
    std::string_view route;
    std::size_t lane = 0;  ///< Of the dialer's socket.
  };

  /// `options` must outlive this object.
  explicit ZmqSessions(const ZmqTransport::Options& options) : options_(options) {}

  void start(TransportHandler& handler) { handler_ = &handler; }
  /// Sets the time for all calls that follow, and whether another thread than the transport's own
  /// makes them.
  void advance_to(Time now, bool is_helped) {
    now_ = now;
    is_helped_ = is_helped;
  }

  /// Null when the session with `peer` is over. Any thread.
  SessionPtr find(PeerId peer) const;
  /// Null if there is no session of this number.
  SessionPtr find(std::uint64_t number) const;

  /// Handles a message: its header, then its frames. Only if nothing of the one before is left.
  void take(const Source& source, std::span<zmq::message_t> parts);
  /// Gives the handler some of the messages that the last one taken consists of; false if none was
  /// left. Between two calls another thread may take the caller's place.
  bool deliver_some();
  /// Whether some are left.
  bool delivers() const { return parcel_.has_value(); }
  /// Sends the waiting messages of the session's outbox, as far as its sockets accept them. Returns
  /// the number of bytes sent, without frames.
  std::size_t flush(ZmqSession& session);
  void end(const SessionPtr& session, const Error& reason, bool say_bye);
  void end_all(const Error& reason);
  /// Ends silent sessions, drops handshakes that take too long, and sends heartbeats when due.
  void tick();
  /// Ends the sessions of peers whose key is not listed now and was not at the call before either:
  /// a key file that is being written holds no key for a moment.
  void check_keys(const std::function<bool(const std::string&)>& is_listed);
  /// Time between two heartbeats: as the most impatient side wants them.
  Time beat_every() const { return beat_every_; }
  TransportCounts& counts() { return counts_; }

 private:
  /// A dialler that sent kHello on at least one lane to our router.
  struct Handshake {
    std::array<std::optional<std::string>, 2> routes;
    std::array<int, 2> fds{-1, -1};
    ZmqListener* listener = nullptr;
    PeerInfo info;
    Time since{0};
    std::uint64_t heartbeat = 0;  // as the dialler gave it, in ns
  };

  /// What of a message of a session has not been delivered.
  struct Parcel {
    Parcel(SessionPtr its_session, zmq::message_t&& first);

    SessionPtr session;
    const zmq::message_t bytes;
    EntryReader entries;
    Frames body;  ///< Of the first entry.
    bool has_body = false;
    int count = 0;
  };

  void take_unauthenticated(const Source& source, const zmq::message_t& first);
  void take_hello(const Source& source, const WireHeader& header, const zmq::message_t& first);
  void take_accepted(const Source& source, const WireHeader& header, const zmq::message_t& first);
  void take_bye(const Source& source, const WireHeader& header, std::span<const std::byte> bytes);
  void take_data(const Source& source, const WireHeader& header, std::span<zmq::message_t> parts);
  SessionPtr session_of(const Source& source, const WireHeader& header);
  bool is_removed(const std::string& key) const;
  void refuse_for_descriptors(const Source& source, const WireHeader& header);
  void begin(std::uint64_t number, Handshake& handshake);
  void add_session(const SessionPtr& session, const PeerInfo& info);
  void garbage(const SessionPtr& session, const std::string& what);
  void say(PolledSocket& socket, const std::string& route, const WireHeader& header,
           const std::string& text = {});
  void end_silent();
  void beat();
  Time beat_wanted() const;

  const ZmqTransport::Options& options_;
  TransportHandler* handler_ = nullptr;
  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, SessionPtr> by_id_;  // under mutex_
  std::unordered_map<std::uint64_t, SessionPtr> by_number_;
  std::map<std::uint64_t, Handshake> handshakes_;
  // Keys that had a session and are listed no more, with the number of checks since.
  std::map<std::string, int> unlisted_;
  TransportCounts counts_;
  Time now_{0};
  bool is_helped_ = false;
  Time next_beat_{0};
  Time beat_every_{options_.heartbeat};
  std::uint64_t num_peers_ = 0;
  std::optional<Parcel> parcel_;
};

}  // namespace forebay
