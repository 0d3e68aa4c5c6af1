#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <zmq.hpp>

#include "core/net/host_port.h"
#include "core/net/polled_socket.h"
#include "core/net/zmq_transport.h"

namespace forebay {

/// One address that a session is kept up with: its sockets, one a lane, and when to try again.
///
/// Owns the sockets of the try that is under way. Belongs to the transport's thread. Each try has a
/// session number of its own, and sockets of its own, so that nothing of an earlier one is left.
class ZmqDialer {
 public:
  using Time = std::chrono::nanoseconds;

  ZmqDialer(std::string address, HostPort parts, const ZmqTransport::Options& options)
      : address_(std::move(address)), parts_(std::move(parts)), options_(options) {}

  /// Opens sockets and says hello on both lanes. Tries again later when that cannot be done.
  void connect(zmq::context_t& context, Time now);

  /// Closes the sockets; reconnects after a pause that grows with each failure in a row.
  void give_up(Time now);

  /// Takes note of why; true where it is not what was said last.
  bool was_refused(const std::string& why) {
    return !why.empty() && std::exchange(refused_, why) != why;
  }

  bool connecting() const { return sockets_.has_value() && !up; }
  bool due(Time now) const { return !sockets_ && now >= next_connect_; }
  bool too_late(Time now) const { return connecting() && now - tried_at_ > options_.handshake; }

  /// Whether what lies in `lane`'s socket may be read now: behind its welcome only once both came.
  bool readable(std::size_t lane) const { return sockets_ && (up || !accepted_[lane]); }
  /// True when both lanes are welcomed.
  bool accepted(std::size_t lane);

  PolledSocket* socket(std::size_t lane) { return sockets_ ? &(*sockets_)[lane] : nullptr; }
  std::uint64_t session() const { return session_; }
  const std::string& address() const { return address_; }

  bool up = false;  ///< The transport's: a session stands on these sockets.

 private:
  const std::string address_;
  const HostPort parts_;
  const ZmqTransport::Options& options_;
  std::optional<std::array<PolledSocket, 2>> sockets_;
  std::array<bool, 2> accepted_{};
  std::uint64_t session_ = 0;
  Time tried_at_{0};
  Time next_connect_{0};
  Time pause_{0};
  std::string refused_;  // why, at the last try that was
};

}  // namespace forebay
