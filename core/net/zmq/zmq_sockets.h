#pragma once

#include <sys/epoll.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <zmq.hpp>

#include "core/base/descriptor.h"
#include "core/base/result.h"
#include "core/net/host_port.h"
#include "core/net/zmq/zap_authenticator.h"
#include "core/net/zmq/zmq_dialer.h"
#include "core/net/zmq/zmq_listener.h"
#include "core/net/zmq/zmq_sessions.h"
#include "core/net/zmq/zmq_socket.h"
#include "core/net/zmq/zmq_transport.h"

namespace forebay {

/// The sockets of a transport, and the epoll descriptor that tells which of them may hold unread
/// messages.
///
/// Owns listeners, dialers and the check of keys; gives the sessions what the sockets receive. The
/// waiting functions may be called by any thread; all else belongs to the thread of the transport,
/// or to a sender or a waiting thread in its place.
class ZmqSockets {
 public:
  using Time = std::chrono::nanoseconds;
  using Events = std::array<epoll_event, 16>;

  /// Both must outlive this object.
  ZmqSockets(const ZmqTransport::Options& options, ZmqSessions& sessions);

  /// Listens at the address; returns it with the port that is used.
  Result<std::string> listen(const HostPort& address);
  /// Keeps up a session with the address from now on; does nothing if a dialer does so already.
  void dial(const std::string& address, const HostPort& parts, Time now);
  /// Ends the session with the address, and dials it no more.
  void hang_up(const std::string& address);
  void close_all();

  /// Reads the events of connections, and lets receive_next() begin with the first socket.
  void begin_turn(Time now);
  /// Gives the sessions the next message of this turn; false if there are no more.
  bool receive_next();
  /// Whether the last message was the first one that its socket gave in this turn.
  bool gave_first() const { return received_ == 1; }
  /// Lets dialers connect and give up when it is time, and limits connections without a session.
  void tick(Time now);

  /// Waits for the descriptor, too; for edges only, as for those of the sockets.
  void watch(int fd) const;
  /// Whether a socket may hold an unread message. From here on wait() waits for all sockets.
  bool has_unread();
  /// Returns those of the events that came within `milliseconds`; negative: waits until one comes.
  std::span<const epoll_event> wait(Events& events, int milliseconds) const;
  /// Waits until an event comes, or for a time that is shorter than wait() can wait.
  void wait_briefly(Time time) const;
  /// Notes that the descriptor of a socket has signalled.
  void take_signal(int fd);

 private:
  template <class Visitor>
  void each_socket(Visitor visit);
  bool receive_from(std::size_t source);
  bool receive_from(ZmqListener& listener);
  bool receive_from(ZmqDialer& dialer, std::size_t lane);

  const ZmqTransport::Options& options_;
  ZmqSessions& sessions_;
  zmq::context_t context_;
  const Descriptor events_;  // epoll
  std::optional<ZapAuthenticator> zap_;
  std::vector<std::unique_ptr<ZmqListener>> listeners_;
  std::vector<std::unique_ptr<ZmqDialer>> dialers_;
  Parts parts_;
  std::size_t source_ = 0;  // that is received from in this turn: listeners, then dialers' lanes
  int received_ = 0;        // messages of it
};

}  // namespace forebay
