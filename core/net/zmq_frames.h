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

/// Receives the next whole message into `parts`, if one is there. With more than `most` parts it is
/// read to its end and dropped: kTooMany.
ReceiveResult receive(PolledSocket& socket, std::size_t most, Parts& parts);

inline std::span<const std::byte> bytes_in(const zmq::message_t& part) {
  return {static_cast<const std::byte*>(part.data()), part.size()};
}

/// The bytes of `part` as they stand: it is kept as long as the Frame is, and counted as taken from
/// `budget`, if there is one.
Frame wrap(zmq::message_t&& part, MemoryBudget* budget);

enum class SendResult { kGone, kBlocked, kNoPeer };

/// Sends `parcel` to `route` (empty: a socket with one peer), with nothing copied that is worth it.
/// Unless it is gone the parcel stays as it was.
SendResult send(PolledSocket& socket, const std::string& route, OutMessage& parcel);

}  // namespace forebay
