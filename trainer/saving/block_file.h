#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "core/base/descriptor.h"
#include "core/base/open_files.h"
#include "core/base/result.h"
#include "core/base/thread/start_thread.h"
#include "trainer/saving/durable_file.h"

namespace forebay {

/// A few large blocks of memory between a thread that fills them and one that empties them, so that
/// a disk works while the next block is filled or used.
///
/// Blocks are page-aligned, as direct I/O requires.
class BlockRing {
 public:
  static constexpr std::size_t kBlockBytes = std::size_t{2} << 20;
  static constexpr std::size_t kBlocks = 4;
  /// Bytes of a ring.
  static constexpr std::size_t kBytes = kBlocks * kBlockBytes + kDirectPage;

  /// Returns the next block to fill; blocks until one is empty. An empty span once the ring is
  /// closed.
  std::span<std::byte> to_fill();
  void filled(std::size_t bytes);
  /// Ends the filling: no further block will be filled.
  void end();

  /// Returns the next filled block; blocks until there is one. An empty span at the end, or once
  /// the ring is closed.
  std::span<const std::byte> to_empty();
  void emptied();

  /// Called by either side to cancel: no call blocks any more.
  void close();

 private:
  std::span<std::byte> block(std::size_t number);

  const std::unique_ptr<std::byte[]> memory_ = std::make_unique_for_overwrite<std::byte[]>(kBytes);
  std::array<std::size_t, kBlocks> bytes_{};  // of filled blocks
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t filled_ = 0;   // number of blocks since the begin
  std::size_t emptied_ = 0;  // number of blocks since the begin
  bool ended_ = false;
  bool closed_ = false;
};

/// Writes a large new file from its begin to its end at the disk's speed and syncs it.
///
/// Its own thread writes blocks with direct I/O (through the page cache if the file system does not
/// support that) while the caller fills the next block. Takes BlockRing::kBytes. Errors name the
/// file and the system's message. Belongs to one thread.
class BlockFileWriter {
 public:
  /// Returns an error if the file exists.
  static Result<std::unique_ptr<BlockFileWriter>> create(const std::string& path);
  ~BlockFileWriter();
  BlockFileWriter(const BlockFileWriter&) = delete;
  BlockFileWriter& operator=(const BlockFileWriter&) = delete;

  /// Memory for the next bytes, at least one byte; wrote() says how many were filled.
  Result<std::span<std::byte>> room();
  void wrote(std::size_t bytes);

  Status write(std::span<const std::byte> bytes);

  /// Returns after the file has reached the disk. The digest is RunningDigest's.
  Result<FileDigest> finish();

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
  Status written_;            // written by the thread, until the ring is closed or it is joined
  std::uint64_t offset_ = 0;  // used by the thread
  std::unique_ptr<Thread> thread_;
};

/// Reads a large file from its begin to its end at the disk's speed, and computes its digest.
///
/// Its own thread reads ahead with direct I/O in the same way. Errors are those of reading_error().
class BlockFileReader {
 public:
  static Result<std::unique_ptr<BlockFileReader>> open(const std::string& path);
  ~BlockFileReader();
  BlockFileReader(const BlockFileReader&) = delete;
  BlockFileReader& operator=(const BlockFileReader&) = delete;

  std::uint64_t position() const { return position_; }

  /// Reads the next bytes; returns kCorrupt if the file ends before.
  Status read(std::span<std::byte> to);
  /// Skips the bytes before `position`, which must not be before position().
  Status skip_to(std::uint64_t position);

  /// Reads the rest; returns the file's size and digest.
  Result<FileDigest> finish();

 private:
  BlockFileReader(std::string path, Descriptor file);
  void run();
  Result<bool> next_block();
  template <class Take>
  Status advance(std::uint64_t bytes, const Take& take);

  const std::string path_;
  const Descriptor file_;
  BlockRing ring_;
  std::span<const std::byte> block_;
  bool has_block_ = false;
  std::uint64_t position_ = 0;
  RunningDigest digest_;
  Status read_;  // written by the thread, until the ring is ended
  std::unique_ptr<Thread> thread_;
};

}  // namespace forebay
