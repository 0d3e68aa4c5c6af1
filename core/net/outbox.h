#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/net/transport.h"

namespace forebay {

/// Bytes of one message of the transport: a header's room, entries behind it, frames beside it.
struct OutMessage {
  std::unique_ptr<std::byte[]> bytes;
  std::size_t size = 0;
  std::size_t capacity = 0;
  Frames body;

  /// Appends an entry and makes room as it needs.
  void append(std::span<const std::byte> entry);
};

/// What waits to go to one peer: any thread adds, the transport's thread takes.
///
/// Owns the parcels. Small messages that wait share one, so that many cost little more than one.
/// Refuses with kOverloaded when more bytes wait on a lane than it may hold, except that an empty
/// lane takes one message of any size; with what `end` was told once the session is over.
class Outbox {
 public:
  struct Limits {
    std::array<std::size_t, 2> waiting_bytes = {64u << 20, 1u << 30};  ///< By lane.
    std::size_t parcel_bytes = 32 * 1024;  ///< Small messages share a parcel up to that.
  };

  explicit Outbox(const Limits& limits) : limits_(limits) {}

  /// True: nothing was waiting to be announced, so the transport's thread must be told.
  Result<bool> add(Lane lane, std::span<const std::byte> head, Frames&& body);

  /// Moves all parcels of `lane` behind those in `to`.
  void take(Lane lane, std::deque<OutMessage>& to);

  /// From here on what is added is announced again.
  void heard();

  /// Bytes taken before have gone.
  void gone(Lane lane, std::size_t bytes);

  /// Refuses everything from now on, and drops what waits.
  void end(const Error& reason);

 private:
  struct Waiting {
    std::deque<OutMessage> parcels;
    std::size_t bytes = 0;  // those taken and not gone included
  };

  const Limits limits_;
  std::mutex mutex_;
  std::array<Waiting, 2> lanes_;  // under mutex_, as all below
  bool announced_ = false;
  std::optional<Error> ended_;
};

}  // namespace forebay
