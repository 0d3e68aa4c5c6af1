#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/base/descriptor.h"
#include "core/base/result.h"
#include "core/wire/frame.h"
#include "engine/actors/cluster/libraries/library_digest.h"
#include "engine/actors/cluster/libraries/library_messages.h"

namespace forebay {

/// A library that comes from another node, on the disk of this one.
///
/// Owns its file and the folder around it, which only this user may open, and removes both.
class IncomingLibrary {
 public:
  /// `info` has passed check(). kUnavailable: the folder for temporary files takes no file.
  static Result<std::unique_ptr<IncomingLibrary>> begin(const LibraryInfo& info);
  ~IncomingLibrary();
  IncomingLibrary(const IncomingLibrary&) = delete;
  IncomingLibrary& operator=(const IncomingLibrary&) = delete;

  /// Where the next part begins.
  std::uint64_t offset() const { return offset_; }
  bool is_complete() const { return offset_ == info_.bytes; }
  /// Writes the next part. kCorrupt: it has not as many bytes as it must have, or it was the last
  /// one and the library has another digest; kUnavailable: the disk refuses it.
  Status take(const Frames& part);

  const std::string& path() const { return path_; }

 private:
  explicit IncomingLibrary(const LibraryInfo& info) : info_(info) {}

  Status write(const Frame& frame);

  const LibraryInfo info_;
  std::string folder_;  // empty: it was not made
  std::string path_;
  Descriptor file_;
  std::uint64_t offset_ = 0;
  LibraryDigest digest_;
};

}  // namespace forebay
