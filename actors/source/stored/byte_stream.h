#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "actors/input/file_system.h"
#include "actors/source/stored/codec.h"
#include "actors/source/stored/restart_point.h"
#include "actors/source/stored/unpack_room.h"
#include "core/base/result.h"

namespace forebay {

/// Reads a file's decompressed content forward. Owned and used by one thread.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  /// Fills `out` and returns the number of bytes, less than `out.size()` only at the end of the
  /// content. kCorrupt names the file and the offset in the stored file where decoding failed.
  virtual Result<std::size_t> next(std::span<char> out) = 0;
  /// Returns the number of bytes of the stored file decoded so far.
  virtual std::uint64_t consumed() const = 0;
};

/// Opens `file` at `start`. The stream adds the restart points that it passes to `log`, if any.
/// `file` and `log` must outlive the stream. next() fails with kOverloaded when the decoder needs
/// more memory than `room` allows.
Result<std::unique_ptr<ByteStream>> open_stream(const InputFile& file, Codec codec,
                                                const Restart& start, RestartLog* log,
                                                const UnpackRoom& room = {});

}  // namespace forebay
