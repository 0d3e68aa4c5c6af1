#pragma once

#ifndef ZLIB_CONST
#define ZLIB_CONST  // Input is const.
#endif
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <zlib.h>

#include "actors/source/stored/byte_stream.h"
#include "core/base/result.h"

namespace forebay {

/// Inflates a gzip file (RFC 1952) of one or more members, from its start or a restart point.
///
/// Logs a point about every kSpacing bytes of output, at the start of a deflate block or member.
/// Accepts zeros after the last member as padding, and refuses any other bytes there.
class GzipStream final : public ByteStream {
 public:
  static constexpr std::uint64_t kSpacing = 1 << 20;

  static Result<std::unique_ptr<ByteStream>> open(const InputFile& file, const Restart& start,
                                                  RestartLog* log);
  /// Only for a `start` at a member's first byte; open() also supports points inside a member.
  GzipStream(const InputFile& file, const RestartPoint& start, RestartLog* log);
  ~GzipStream() override;
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;

  Result<std::size_t> next(std::span<char> out) override;
  std::uint64_t consumed() const override { return stored_.offset(); }

 private:
  enum class Place : std::uint8_t { kBetween, kInside, kEnd };

  Status resume(const Restart& start);
  Status enter_member();
  Status skip_padding();
  Result<std::size_t> inflate_some(std::span<char> out);
  Status log_boundary();

  StoredBytes stored_;
  RestartLog* log_;
  z_stream inflater_{};
  Place place_ = Place::kBetween;
  bool raw_ = false;          // inside a member entered at a point: we skip its trailer
  bool first_member_ = true;  // no member of the file was entered yet
  std::size_t trailer_ = 0;   // bytes still to skip before the next member
  std::uint64_t position_;    // offset in the decompressed content
  std::uint64_t last_point_;
};

}  // namespace forebay
