#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include <zstd.h>

#include "actors/source/stored/byte_stream.h"
#include "actors/source/stored/restart_point.h"
#include "actors/source/stored/stored_bytes.h"
#include "actors/source/stored/unpack_room.h"
#include "actors/source/stored/zstd_frame.h"
#include "core/base/result.h"

namespace forebay {

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
  Status log_frame();
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
