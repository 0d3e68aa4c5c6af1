#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/data/digest.h"

namespace forebay {

/// A digest of any number of bytes taken piece by piece: the chain (`Digest::then`) of the digests
/// of its whole megabytes and of the rest, so it does not depend on the division into pieces.
class RunningDigest {
 public:
  void add(const void* data, std::size_t size);
  Digest finish() {
    take_piece(piece_.data(), piece_.size());
    return digest_;
  }

 private:
  void take_piece(const std::byte* data, std::size_t size) {
    digest_ = digest_.then(Digest::of(data, size));
  }

  Digest digest_;
  std::vector<std::byte> piece_;
};

/// The size and the digest (RunningDigest's) of a whole file.
struct FileDigest {
  std::uint64_t bytes = 0;
  Digest digest;
};

/// Builds the error of errno for a file that cannot be …: kOverloaded if there is no space, else
/// kUnavailable.
tl::unexpected<Error> file_error(const std::string& path, const char* action);

/// Builds the error of errno for a part of a checkpoint that cannot be …: kUnavailable if it may be
/// readable later (no permission, too many open files), else kCorrupt: the file is missing, or its
/// disk cannot read it. The text says which; changed bytes are a separate error.
tl::unexpected<Error> reading_error(const std::string& path, const char* action);

/// Syncs a file's content, or the entries of a directory (new, renamed and removed ones), to the
/// disk.
Status sync_to_disk(const std::string& path);

/// Copies a file, over one that is there. The error names the file that cannot be read or written
/// (file_error).
Status copy_whole(const std::string& from, const std::string& to);

/// Reads a whole file of a checkpoint, of at most `most` bytes. kUnavailable: it may be readable
/// later; kCorrupt: it is missing, larger, or no regular file.
Result<std::string> read_part(const std::string& path, std::size_t most);

}  // namespace forebay
