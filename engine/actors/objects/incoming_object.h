#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "core/base/result.h"
#include "core/wire/frame.h"
#include "engine/actors/objects/object_info.h"
#include "engine/actors/objects/object_memory.h"

namespace forebay {

/// Bytes of an object that are asked for at once. A larger object may come from several processes.
inline constexpr std::uint64_t kObjectChunk = std::uint64_t{1} << 20;

/// Part of an object.
struct ObjectRange {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

/// An object that is being received, from its first byte to its last.
///
/// Decides which ranges to ask for, and checks what comes. Belongs to one thread.
class IncomingObject {
 public:
  IncomingObject(const ObjectInfo& info, ObjectMemory::Buffer buffer)
      : info_(info), buffer_(std::move(buffer)) {}

  /// The range to ask for next; nothing if enough are on their way, or all.
  std::optional<ObjectRange> next();
  /// Takes what a source sent. kCorrupt: these are not the bytes that come next, or the last ones
  /// show that the whole differs from the object that was put.
  Status take(std::uint64_t offset, const Frames& bytes);
  /// Asks again for the bytes that have not arrived, from another source.
  void ask_again() { asked_ = received_; }

  bool is_complete() const { return received_ == info_.size; }
  bool has(const ObjectRange& range) const { return range.offset + range.size <= received_; }
  const Frame& frame() const { return buffer_.frame; }

 private:
  const ObjectInfo info_;
  ObjectMemory::Buffer buffer_;
  std::uint64_t asked_ = 0;
  std::uint64_t received_ = 0;
  std::uint32_t digest_ = 0;
};

}  // namespace forebay
