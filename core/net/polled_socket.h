#pragma once

#include <zmq.hpp>

namespace forebay {

/// A ZeroMQ socket, and whether something may lie in it unread.
///
/// Its descriptor tells only of changes, and whoever sends may take note of one in passing: so a
/// socket is fresh from such a moment on until it was read to its end. Asking it instead costs
/// system calls.
struct PolledSocket {
  PolledSocket(zmq::context_t& context, zmq::socket_type type)
      : socket(context, type), fd(socket.get(zmq::sockopt::fd)) {}

  zmq::socket_t socket;
  int fd;
  bool fresh = true;
};

}  // namespace forebay
