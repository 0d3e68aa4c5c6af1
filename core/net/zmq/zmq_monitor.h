#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <zmq.hpp>

#include "core/net/zmq/zmq_socket.h"

namespace forebay {

/// An event of a connection, as zmq_socket_monitor() defines it.
struct MonitorEvent {
  int kind = 0;            ///< ZMQ_EVENT_….
  std::int32_t value = 0;  ///< A descriptor, an errno or a reason, which depends on the kind.
};

/// The events of the connections of one socket. Must be used by the socket's thread, and destroyed
/// before the socket: ZeroMQ's own thread blocks, and with it all connections of the context, when
/// it has an event for a monitor that is gone.
class ZmqMonitor {
 public:
  /// `name` is unique within the context. Throws as cppzmq does.
  ZmqMonitor(zmq::context_t& context, zmq::socket_t& watched, const std::string& name, int events);
  ~ZmqMonitor();
  ZmqMonitor(const ZmqMonitor&) = delete;
  ZmqMonitor& operator=(const ZmqMonitor&) = delete;

  /// The next event, if there is one.
  std::optional<MonitorEvent> next();

  PolledSocket& socket() { return socket_; }

 private:
  void* const watched_;
  PolledSocket socket_;
};

}  // namespace forebay
