#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/data/digest.h"

namespace forebay {

/// A digest of any number of bytes taken piece by piece: the chain (`Digest::then`) of the digests
/// of its whole megabytes and what is left, so it does not depend on how the bytes came.
class RunningDigest {
 public:
  void add(const void* data, std::size_t size);
  Digest finish();

 private:
  void take_piece(const std::byte* data, std::size_t size);

  Digest digest_;
  std::vector<std::byte> piece_;
};

/// Writes a new file from its start to its end and makes it durable.
///
/// Owns the descriptor. Errors name the file and what the system said; nothing more is written
/// then.
class DurableFile {
 public:
  /// Refuses a file that exists.
  static Result<DurableFile> create(const std::string& path);
  DurableFile(DurableFile&& other) noexcept;
  DurableFile& operator=(DurableFile&&) = delete;
  ~DurableFile();

  Status write(const void* data, std::size_t size);

  struct Written {
    std::uint64_t bytes = 0;
    Digest digest;
  };
  /// Reaches the disk before it returns.
  Result<Written> finish();

 private:
  DurableFile(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}

  std::string path_;
  int descriptor_;
  std::uint64_t bytes_ = 0;
  RunningDigest digest_;
};

/// What errno says of a file that cannot be …: kOverloaded where there is no room, else
/// kUnavailable.
tl::unexpected<Error> file_error(const std::string& path, const char* action);

/// What errno says of a part of a checkpoint that cannot be …: kUnavailable where another time it
/// may be (no permission, too many open files), else kCorrupt: it is gone, or its disk will not
/// give it. The words say which; that bytes have changed is another matter.
tl::unexpected<Error> reading_error(const std::string& path, const char* action);

/// Makes what a file holds durable.
Status sync_file(const std::string& path);

/// Makes the entries of a directory durable: new, renamed and removed ones.
Status sync_directory(const std::string& path);

/// Reads a file of at most `most` bytes as a whole. kCorrupt where it is larger; else as
/// reading_error() has it.
Result<std::string> read_small_file(const std::string& path, std::size_t most);

}  // namespace forebay
