#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <zstd.h>

#include "actors/source/byte_stream.h"
#include "actors/source/restart_point.h"
#include "actors/source/stored_bytes.h"
#include "core/base/result.h"

namespace forebay {

/// Decodes a zstd file (RFC 8878) of one or more frames, from its start or that of a frame.
/// Logs a point at the start of a frame when kSpacing bytes of output lie behind the last one.
class ZstdStream final : public ByteStream {
 public:
  static constexpr std::uint64_t kSpacing = 256 << 10;

  ZstdStream(const InputFile& file, const RestartPoint& start, RestartLog* log);

  Result<std::size_t> next(std::span<char> out) override;
  std::uint64_t consumed() const override { return stored_.offset(); }

 private:
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  Status log_frame();

  StoredBytes stored_;
  RestartLog* log_;
  std::unique_ptr<ZSTD_DCtx, Free> context_;
  bool between_frames_ = true;
  std::uint64_t position_;
  std::uint64_t last_point_;
};

}  // namespace forebay
