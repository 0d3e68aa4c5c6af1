#pragma once

#include <zmq.hpp>

namespace forebay {

/// A ZeroMQ socket, and whether it may hold unread messages.
///
/// Its descriptor signals only changes, and a send may consume a signal as a side effect. So a
/// socket stays fresh from the signal on until it was read to its end. Asking the socket instead
/// costs system calls.
struct PolledSocket {
  PolledSocket(zmq::context_t& context, zmq::socket_type type)
      : socket(context, type), fd(socket.get(zmq::sockopt::fd)) {}

  zmq::socket_t socket;
  int fd;
  bool fresh = true;
};

}  // namespace forebay
