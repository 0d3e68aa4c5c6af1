#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <zmq.hpp>

#include "core/data/buffer_pool.h"
#include "core/net/outbox.h"
#include "core/net/zmq/zmq_transport.h"
#include "core/wire/frame.h"

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
  bool watched = false;  ///< Its descriptor is among those that the transport waits for.
};

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

/// The parts of one ZeroMQ message.
using Parts = std::vector<zmq::message_t>;

/// Whether the socket reports ZMQ_POLLIN or ZMQ_POLLOUT, `event`, now.
bool is_ready(zmq::socket_t& socket, int event);

enum class ReceiveResult { kNothing, kMessage, kTooMany };

/// Receives the next whole message into `parts`, if there is one. Reads a message of more than
/// `most` parts to its end, drops it and returns kTooMany.
ReceiveResult receive(PolledSocket& socket, std::size_t most, Parts& parts);

inline std::span<const std::byte> bytes_in(const zmq::message_t& part) {
  return {static_cast<const std::byte*>(part.data()), part.size()};
}

/// The descriptor that a message was received on, or -1.
inline int descriptor_of(const zmq::message_t& message) {
  return zmq_msg_get(message.handle(), ZMQ_SRCFD);
}

/// Wraps the bytes of `part` without a copy. The Frame keeps `part` alive, and counts it against
/// `budget` if that is not null.
Frame wrap(zmq::message_t&& part, MemoryBudget* budget);

/// Sends `parcel` to `route` (empty: a socket with one peer); copies only small parts. Leaves
/// `parcel` unchanged, and returns false, if the peer is gone or takes nothing now.
bool send(PolledSocket& socket, const std::string& route, WireBuffer& parcel);

}  // namespace forebay
