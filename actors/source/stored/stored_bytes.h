#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "actors/input/file_system.h"
#include "core/base/result.h"

namespace forebay {

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

}  // namespace forebay
