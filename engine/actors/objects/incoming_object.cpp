#include "engine/actors/objects/incoming_object.h"

#include <algorithm>
#include <cstring>

#include "core/base/crc32c.h"

namespace forebay {
namespace {

/// Asked for and not received.
constexpr std::uint64_t kMostOnTheWay = 8 * kObjectChunk;

}  // namespace

std::optional<ObjectRange> IncomingObject::next() {
  if (asked_ == info_.size || asked_ - received_ >= kMostOnTheWay) return std::nullopt;
  const ObjectRange range{asked_, std::min(kObjectChunk, info_.size - asked_)};
  asked_ += range.size;
  return range;
}

Status IncomingObject::take(std::uint64_t offset, const Frames& bytes) {
  const std::uint64_t size = bytes_of(bytes);
  if (offset != received_ || size == 0 || size > asked_ - received_) {
    return fail(Code::kCorrupt, "a source of an object sent other bytes than it was asked for");
  }
  for (const Frame& frame : bytes) {
    if (frame.size() == 0) continue;
    std::memcpy(buffer_.data + received_, frame.data(), frame.size());
    digest_ = crc32c({reinterpret_cast<const char*>(frame.data()), frame.size()}, digest_);
    received_ += frame.size();
  }
  if (is_complete() && digest_ != info_.digest) {
    return fail(Code::kCorrupt, "the bytes of an object changed on their way");
  }
  return {};
}

}  // namespace forebay
