#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "actors/input/file_system.h"
#include "actors/source/codec.h"
#include "actors/source/restart_point.h"
#include "actors/source/unpack_room.h"
#include "core/base/result.h"

namespace forebay {

/// A file's decompressed content, read forward. Owned and used by one thread.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  /// Fills `out`; what it returns is less than its size only at the end of the content. kCorrupt
  /// names the file and the byte, as stored, at which it stops making sense.
  virtual Result<std::size_t> next(std::span<char> out) = 0;
  /// Bytes of the stored file taken so far.
  virtual std::uint64_t consumed() const = 0;
};

/// Opens `file`, which outlives the stream, at `start`. With a `log` (which outlives it too) the
/// stream tells the restart points it passes. What keeps more than `room` is refused with
/// kOverloaded when it does.
Result<std::unique_ptr<ByteStream>> open_stream(const InputFile& file, Codec codec,
                                                const Restart& start, RestartLog* log,
                                                const UnpackRoom& room = {});

}  // namespace forebay
