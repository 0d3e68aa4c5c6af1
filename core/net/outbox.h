#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <span>

#include "core/base/result.h"
#include "core/net/transport.h"

namespace forebay {

/// Appends an entry to a transport message, after space for its header.
void append_entry(WireBuffer& message, std::span<const std::byte> entry);

/// Messages waiting to be sent to one peer. Any thread adds; the transport's thread takes.
///
/// Owns the messages until they are taken. Small waiting messages share one parcel, so that many
/// cost little more than one. `add` refuses with kOverloaded when more bytes wait on a lane than
/// its limit; an empty lane accepts one message of any size. After `end` it refuses with the error
/// given there.
class Outbox {
 public:
  struct Limits {
    std::array<std::size_t, 2> waiting_bytes = {64u << 20, 1u << 30};  ///< By lane.
    std::size_t parcel_bytes = 32 * 1024;  ///< Small messages share a parcel up to this size.
  };

  explicit Outbox(const Limits& limits) : limits_(limits) {}

  /// Returns true if the caller must announce this outbox to the transport's thread.
  Result<bool> add(Lane lane, std::span<const std::byte> head, Frames&& body);

  /// Moves all parcels of `lane` to the end of `to`.
  void take(Lane lane, std::deque<WireBuffer>& to);

  /// Acknowledges the announcement: the next message added must be announced again.
  void heard();

  /// Subtracts taken bytes from the limit's accounting once they are sent.
  void gone(Lane lane, std::size_t bytes);

  /// Refuses every later message with `reason` and drops the waiting ones.
  void end(const Error& reason);

 private:
  struct Waiting {
    std::deque<WireBuffer> parcels;
    std::size_t bytes = 0;  // including bytes taken and not sent yet
  };

  const Limits limits_;
  std::mutex mutex_;
  std::array<Waiting, 2> lanes_;  // under mutex_, as all below
  bool announced_ = false;
  std::optional<Error> ended_;
};

}  // namespace forebay
