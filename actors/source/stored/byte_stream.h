#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "actors/input/file_system.h"
#include "actors/source/stored/file_list.h"
#include "core/base/result.h"

namespace forebay {

/// A location from which compressed content can be decoded without the content before it (idea:
/// zran.c of zlib). Every file has an implicit restart point at its start, which is not stored.
struct RestartPoint {
  enum class Kind : std::uint8_t {
    kFrame,   ///< A gzip member or zstd frame starts at `in`.
    kInside,  ///< A deflate block starts at `in`; needs the window.
  };

  std::uint64_t out = 0;  ///< Offset in the decompressed content.
  std::uint64_t in = 0;   ///< Offset in the stored file of the first unused byte.
  Kind kind = Kind::kFrame;
  std::uint8_t bits = 0;           ///< Number of high bits of byte `in` - 1 that are not used yet.
  std::uint64_t window_at = 0;     ///< Offset of the packed window in the index file.
  std::uint32_t window_bytes = 0;  ///< Size of the packed window.
  std::uint64_t window_hash = 0;   ///< The low half of the packed window's Digest.

  bool operator==(const RestartPoint&) const = default;
};

/// A start for reading: a restart point and its window (unpacked, at most 32 KiB).
struct Restart {
  RestartPoint point;
  std::vector<char> window;
};

/// Receives the restart points of a stream that is read from its start.
class RestartLog {
 public:
  virtual ~RestartLog() = default;
  /// Adds a point and its window. The window_* fields of `point` are still unset.
  virtual Status add(const RestartPoint& point, std::span<const char> window) = 0;
};

/// The memory that decoders may use for content they have unpacked. A gzip decoder keeps 32 KiB. A
/// zstd decoder keeps the window of its frame: up to 8 MiB by default, up to 2 GiB with
/// `zstd --long=31`.
struct UnpackRoom {
  std::uint64_t bytes = std::numeric_limits<std::uint64_t>::max();  ///< For one decoder.
  int streams = 1;                                                  ///< Decoders at once.

  /// Divides `bytes` among decoders on up to `threads` threads. Allows fewer decoders at once when
  /// the first frame of one of `files` has a larger window than its share. Ignores files that
  /// cannot be read; unpacking them fails later.
  static UnpackRoom divide(std::uint64_t bytes, int threads,
                           const std::vector<const ListedFile*>& files);
};

/// The stored bytes of a compressed file, read forward through a buffer that a decoder empties.
class StoredBytes {
 public:
  StoredBytes(const InputFile& file, std::uint64_t offset)
      : file_(file), buffer_(kBuffer), end_(offset) {}

  /// Returns the buffered bytes that were not yet taken, and refills an empty buffer first. Returns
  /// an empty span after the end of the file.
  Result<std::span<const char>> peek() {
    if (begin_ == size_) {
      auto got = file_.read_at(end_, buffer_);
      if (!got) return pass(got);
      begin_ = 0;
      size_ = *got;
      end_ += *got;
    }
    return std::span<const char>(buffer_).subspan(begin_, size_ - begin_);
  }
  void take(std::size_t bytes) { begin_ += bytes; }

  /// Returns the offset of the next byte in the file.
  std::uint64_t offset() const { return end_ - (size_ - begin_); }
  const InputFile& file() const { return file_; }
  /// Returns the error "x.gz is damaged at byte 17: why".
  tl::unexpected<Error> damaged(const std::string& why) const {
    return fail(Code::kCorrupt,
                file_.path() + " is damaged at byte " + std::to_string(offset()) + ": " + why);
  }

 private:
  static constexpr std::size_t kBuffer = 128 << 10;

  const InputFile& file_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t size_ = 0;
  std::uint64_t end_;  // of the buffered bytes, as an offset in the file
};

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
