#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <zmq.hpp>

#include "core/data/memory_budget.h"
#include "core/net/outbox.h"
#include "core/net/polled_socket.h"
#include "core/wire/frame.h"

namespace forebay {

/// The parts of one ZeroMQ message.
using Parts = std::vector<zmq::message_t>;

enum class ReceiveResult { kNothing, kMessage, kTooMany };

/// Receives the next whole message into `parts`, if there is one. Reads a message of more than
/// `most` parts to its end, drops it and returns kTooMany.
ReceiveResult receive(PolledSocket& socket, std::size_t most, Parts& parts);

inline std::span<const std::byte> bytes_in(const zmq::message_t& part) {
  return {static_cast<const std::byte*>(part.data()), part.size()};
}

/// Wraps the bytes of `part` without a copy. The Frame keeps `part` alive, and counts it against
/// `budget` if that is not null.
Frame wrap(zmq::message_t&& part, MemoryBudget* budget);

enum class SendResult { kGone, kBlocked, kNoPeer };

/// Sends `parcel` to `route` (empty: a socket with one peer); copies only small parts. Leaves
/// `parcel` unchanged unless the result is kGone.
SendResult send(PolledSocket& socket, const std::string& route, OutMessage& parcel);

}  // namespace forebay
