#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/wire/frame.h"

namespace forebay {

/// Reads MessagePack from untrusted bytes, front to back, without building a tree.
///
/// Owns nothing. Every read returns whether a valid value was read; after a false only `error` may
/// be called. A count is accepted only if at least as many bytes follow, so a caller that reserves
/// by it never asks for more elements than the input has bytes.
class Decoder {
 public:
  /// `context` may be null where no reference to an actor is read. Moves frames out of `frames`.
  explicit Decoder(std::span<const std::byte> bytes, std::span<Frame> frames = {},
                   WireContext* context = nullptr)
      : at_(bytes.data()), end_(bytes.data() + bytes.size()), frames_(frames), context_(context) {}

  bool boolean(bool& out);
  /// Accepts any integer that fits; refuses a whole number in floating point.
  bool number(std::uint64_t& out) {
    if (at_ != end_ && static_cast<unsigned>(*at_) < 0x80) {
      out = static_cast<std::uint64_t>(*at_++);
      return true;
    }
    return long_number(out);
  }
  bool number(std::int64_t& out);
  /// Accepts 32-bit floating point, or an integer: writers may send a whole number as one.
  bool number(float& out);
  bool number(double& out);
  /// The views are valid as long as the input.
  bool text(std::string_view& out);
  bool bytes(std::span<const std::byte>& out);
  bool array(std::size_t& count) { return count_of(0x90, 0xdc, 1, "an array", count); }
  bool map(std::size_t& count) { return count_of(0x80, 0xde, 2, "a map", count); }
  bool frames(Frames& out);
  /// Null if nil was written.
  bool actor(std::shared_ptr<void>& out);
  /// Skips a nil if it is next; false if it is not.
  bool take_nil();
  /// Skips one value of any kind.
  bool skip();

  bool at_end() const { return at_ == end_; }
  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }

  /// Records `problem`, unless an earlier one is recorded. Always returns false.
  bool refuse(std::string_view problem);
  /// Adds the number of the field that was being read to the location of the problem. Always
  /// returns false.
  bool in_field(std::size_t index);
  /// The recorded problem as kCorrupt, with `what` and the field's number, counted from 0.
  Error error(std::string_view what) const;

 private:
  bool long_number(std::uint64_t& out);
  bool whole_number(std::uint64_t& magnitude, bool& negative);
  bool count_of(unsigned short_mark, unsigned mark, std::size_t bytes_each, std::string_view kind,
                std::size_t& count);
  bool take(std::size_t bytes, const std::byte*& out) {
    if (left() < bytes) return refuse("the bytes end too early");
    out = at_;
    at_ += bytes;
    return true;
  }
  template <class T>
  bool big_endian(T& out);
  bool big_endian(unsigned power, std::uint64_t& out);
  bool value_size(unsigned mark, std::size_t& bytes, std::size_t& values);

  const std::byte* at_;
  const std::byte* end_;
  std::span<Frame> frames_;
  std::size_t next_frame_ = 0;
  WireContext* context_;
  std::string problem_;
  std::string path_;
};

}  // namespace forebay
