#pragma once

#include <zmq.hpp>

#include "core/net/zmq_transport.h"

namespace forebay {

/// Sets the options that all sockets of a transport share. Throws as cppzmq does.
inline void set_usual_options(zmq::socket_t& socket, const ZmqTransport::Options& options) {
  constexpr int kLingerMilliseconds = 50;  // Time to send a last message when closing.
  socket.set(zmq::sockopt::linger, kLingerMilliseconds);
  socket.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(options.max_frame_bytes));
  socket.set(zmq::sockopt::sndhwm, options.queued_messages);
  socket.set(zmq::sockopt::rcvhwm, options.queued_messages);
  socket.set(zmq::sockopt::handshake_ivl, static_cast<int>(options.handshake.count()));
  socket.set(zmq::sockopt::tcp_keepalive, 1);
  socket.set(zmq::sockopt::tcp_keepalive_idle, 10);
  socket.set(zmq::sockopt::tcp_keepalive_intvl, 5);
  socket.set(zmq::sockopt::tcp_keepalive_cnt, 3);
}

}  // namespace forebay
