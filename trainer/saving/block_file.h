#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/base/descriptor.h"
#include "core/base/result.h"
#include "core/runtime/thread.h"
#include "trainer/durable_file.h"
#include "trainer/saving/block_ring.h"

namespace forebay {

/// Writes a large new file from its start to its end at the disk's speed and makes it durable.
///
/// A thread of its own writes blocks past the page cache (through it where the file system has no
/// other way) while the caller fills the next one. Takes BlockRing::kBytes. Errors name the file
/// and what the system said. Belongs to one thread.
class BlockFileWriter {
 public:
  /// Refuses a file that exists.
  static Result<std::unique_ptr<BlockFileWriter>> create(const std::string& path);
  ~BlockFileWriter();
  BlockFileWriter(const BlockFileWriter&) = delete;
  BlockFileWriter& operator=(const BlockFileWriter&) = delete;

  /// Where the next bytes go, at least one; wrote() says how many were put there.
  Result<std::span<std::byte>> room();
  void wrote(std::size_t bytes);

  Status write(std::span<const std::byte> bytes);

  /// Reaches the disk before it returns. The digest is RunningDigest's.
  Result<DurableFile::Written> finish();

 private:
  BlockFileWriter(std::string path, Descriptor file);
  void run();
  void write_block(std::span<const std::byte> block);

  const std::string path_;
  const Descriptor file_;
  BlockRing ring_;
  std::span<std::byte> block_;
  std::size_t used_ = 0;  // of block_
  std::uint64_t bytes_ = 0;
  RunningDigest digest_;
  Status written_;            // by the thread, until the ring is closed or it is joined
  std::uint64_t offset_ = 0;  // the thread's
  std::unique_ptr<Thread> thread_;
};

/// Reads a large file from its start to its end at the disk's speed, and takes its digest.
///
/// A thread of its own reads ahead, likewise. Errors are as reading_error() has them.
class BlockFileReader {
 public:
  static Result<std::unique_ptr<BlockFileReader>> open(const std::string& path);
  ~BlockFileReader();
  BlockFileReader(const BlockFileReader&) = delete;
  BlockFileReader& operator=(const BlockFileReader&) = delete;

  std::uint64_t position() const { return position_; }

  /// The next bytes; kCorrupt where the file ends before.
  Status read(std::span<std::byte> to);
  /// Leaves out what is before `position`, which is not before position().
  Status skip_to(std::uint64_t position);

  /// Reads what is left: how many bytes the file has, and their digest.
  Result<DurableFile::Written> finish();

 private:
  BlockFileReader(std::string path, Descriptor file);
  void run();
  Result<bool> next_block();

  const std::string path_;
  const Descriptor file_;
  BlockRing ring_;
  std::span<const std::byte> block_;
  bool has_block_ = false;
  std::uint64_t position_ = 0;
  RunningDigest digest_;
  Status read_;  // by the thread, until the ring is ended
  std::unique_ptr<Thread> thread_;
};

}  // namespace forebay
