#include "core/net/outbox.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "core/net/wire_header.h"

namespace forebay {

void append_entry(WireBuffer& message, std::span<const std::byte> entry) {
  const std::size_t header = message.size() == 0 ? WireHeader::kBytes : 0;
  const auto length = static_cast<std::uint32_t>(entry.size());
  std::byte* to = message.room(header + sizeof(length) + entry.size()) + header;
  std::memcpy(to, &length, sizeof(length));
  if (!entry.empty()) std::memcpy(to + sizeof(length), entry.data(), entry.size());
  message.filled_to(to + sizeof(length) + entry.size());
}

Result<bool> Outbox::add(Lane lane, std::span<const std::byte> head, Frames&& body) {
  const std::size_t bytes = head.size() + sizeof(std::uint32_t) + bytes_of(body);
  const auto which = static_cast<std::size_t>(lane);
  const std::lock_guard lock(mutex_);
  if (ended_) return tl::unexpected<Error>(*ended_);
  Waiting& waiting = lanes_[which];
  if (waiting.bytes != 0 && waiting.bytes + bytes > limits_.waiting_bytes[which]) {
    return fail(Code::kOverloaded,
                "too much waits to be sent: " + std::to_string(waiting.bytes) + " bytes");
  }
  waiting.bytes += bytes;
  const bool shares = body.empty() && !waiting.parcels.empty() &&
                      waiting.parcels.back().frames.empty() &&
                      waiting.parcels.back().size() + bytes <= limits_.parcel_bytes;
  if (!shares) waiting.parcels.emplace_back();
  append_entry(waiting.parcels.back(), head);
  waiting.parcels.back().frames = std::move(body);
  return !std::exchange(announced_, true);
}

void Outbox::take(Lane lane, std::deque<WireBuffer>& to) {
  const std::lock_guard lock(mutex_);
  std::deque<WireBuffer>& parcels = lanes_[static_cast<std::size_t>(lane)].parcels;
  if (to.empty()) {
    to.swap(parcels);
    return;
  }
  for (WireBuffer& parcel : parcels) to.push_back(std::move(parcel));
  parcels.clear();
}

void Outbox::heard() {
  const std::lock_guard lock(mutex_);
  announced_ = false;
}

void Outbox::gone(Lane lane, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  lanes_[static_cast<std::size_t>(lane)].bytes -= bytes;
}

void Outbox::end(const Error& reason) {
  std::array<Waiting, 2> dropped;  // Destroyed after the lock is released.
  const std::lock_guard lock(mutex_);
  dropped.swap(lanes_);
  if (!ended_) ended_ = reason;
}

}  // namespace forebay
