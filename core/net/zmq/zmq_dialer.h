#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <zmq.hpp>

#include "core/net/host_port.h"
#include "core/net/zmq/zmq_monitor.h"
#include "core/net/zmq/zmq_socket.h"
#include "core/net/zmq/zmq_transport.h"

namespace forebay {

/// Keeps up a session with one address, over one socket per lane, and decides when to try again.
///
/// Owns the sockets of the current try. Belongs to the transport's thread. Each try has its own
/// session number and its own sockets, so that nothing of an earlier try remains.
class ZmqDialer {
 public:
  using Time = std::chrono::nanoseconds;

  ZmqDialer(std::string address, HostPort parts, const ZmqTransport::Options& options)
      : address_(std::move(address)), parts_(std::move(parts)), options_(options) {}

  /// Opens sockets and sends kHello on both lanes. Tries again later if that fails.
  void connect(zmq::context_t& context, Time now);

  /// Closes the sockets; reconnects after a pause that grows with each consecutive failure.
  void give_up(Time now);

  /// Tells the user why there is no session, if the reason differs from the last one.
  void refused(const std::string& why);

  /// Reads the events of the connection, and tells the user why the peer does not accept it: keys
  /// that differ, or something else that listens there.
  void read_monitor();

  bool connecting() const { return sockets_.has_value() && !up; }
  bool due(Time now) const { return !sockets_ && now >= next_connect_; }
  bool too_late(Time now) const { return connecting() && now - tried_at_ > options_.handshake; }

  /// Whether `lane`'s socket may be read now. Messages after a lane's kAccepted wait until both
  /// lanes are accepted.
  bool readable(std::size_t lane) const { return sockets_ && (up || !accepted_[lane]); }
  /// Records that the listener accepted `lane`; returns true if it has accepted both lanes.
  bool accepted(std::size_t lane);

  /// Null unless a session is about to begin.
  PolledSocket* monitor() { return monitor_ ? &monitor_->socket() : nullptr; }
  PolledSocket* socket(std::size_t lane) { return sockets_ ? &(*sockets_)[lane] : nullptr; }
  std::uint64_t session() const { return session_; }
  const std::string& address() const { return address_; }

  bool up = false;  ///< Set by the transport: a session uses these sockets.

 private:
  const std::string address_;
  const HostPort parts_;
  const ZmqTransport::Options& options_;
  std::optional<std::array<PolledSocket, 2>> sockets_;
  std::optional<ZmqMonitor> monitor_;  // of the first socket, until the peer has accepted both
  std::array<bool, 2> accepted_{};
  std::uint64_t session_ = 0;
  Time tried_at_{0};
  Time next_connect_{0};
  Time pause_{0};
  std::string refused_;   // the last reason that was told since a session
  int closed_early_ = 0;  // connections since a session that ended before one, without a reason
};

}  // namespace forebay
