#pragma once

#include <cstdint>
#include <string>

#include "core/base/descriptor.h"
#include "core/base/result.h"
#include "core/wire/frame.h"

namespace forebay {

/// The file of an open library, which may have lost its name since: read for other nodes.
///
/// Owns the descriptor. Any thread.
class LibraryFile {
 public:
  /// kInvalid: it cannot be opened.
  static Result<LibraryFile> open(const std::string& path);

  std::uint64_t size() const { return size_; }
  /// The part that begins at `offset` (library_digest.h). kInvalid: no part begins there;
  /// kUnavailable: the disk refuses it; kCorrupt: the file is shorter than it was.
  Result<Frame> part(std::uint64_t offset) const;
  /// LibraryDigest::hex() of the whole file. Fails as part() does.
  Result<std::string> digest() const;

 private:
  Descriptor file_;
  std::uint64_t size_ = 0;
};

}  // namespace forebay
