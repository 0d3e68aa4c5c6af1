#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>

#include <zstd.h>

#include "actors/source/stored/byte_stream.h"
#include "core/base/result.h"

namespace forebay {

/// The memory needed to unpack a zstd frame, according to its header (RFC 8878, 3.1.1.1).
struct ZstdFrame {
  static constexpr std::size_t kMostHeaderBytes = 18;

  std::uint64_t window = 0;  ///< Bytes of content that must stay in memory.
  std::uint64_t content = std::numeric_limits<std::uint64_t>::max();  ///< Maximum if unknown.

  std::uint64_t memory() const { return std::min(window, content); }

  /// Parses the header of the frame at the start of `head`; nullopt if `head` does not begin with a
  /// frame or ends inside its header. Pure.
  static std::optional<ZstdFrame> read(std::span<const char> head);
};

/// Decodes a zstd file (RFC 8878) of one or more frames, from its start or the start of a frame.
/// A frame may have a window of up to 2 GiB; only the part filled with content counts as memory.
/// Logs a restart point at the start of a frame at least kSpacing bytes of output after the last.
class ZstdStream final : public ByteStream {
 public:
  static constexpr std::uint64_t kSpacing = 256 << 10;

  ZstdStream(const InputFile& file, const RestartPoint& start, RestartLog* log,
             const UnpackRoom& room);

  Result<std::size_t> next(std::span<char> out) override;
  std::uint64_t consumed() const override { return stored_.offset(); }

 private:
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  Status begin_frame();
  std::optional<ZstdFrame> frame() const;
  Status check_room();
  tl::unexpected<Error> refused(std::size_t outcome) const;

  StoredBytes stored_;
  RestartLog* log_;
  std::unique_ptr<ZSTD_DCtx, Free> context_;
  const UnpackRoom room_;
  bool between_frames_ = true;
  std::uint64_t frame_at_ = 0;     // offset of the current frame in the file
  std::uint64_t frame_bytes_ = 0;  // decompressed bytes of the frame so far
  bool fits_ = false;              // the frame's window is known to fit in room_
  std::uint64_t position_;
  std::uint64_t last_point_;
};

}  // namespace forebay
