#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace forebay {

/// A piece of a file to be read: `size` bytes at `offset` to `to`; all three aligned as direct
/// reads ask for.
struct FilePiece {
  std::uint64_t offset = 0;
  std::size_t size = 0;
  char* to = nullptr;
  std::int64_t read = 0;  ///< Bytes that came, fewer at the end of the file; or -errno.
};

/// One context of the kernel's asynchronous reads. Belongs to one thread at a time.
class ReadQueue {
 public:
  static constexpr std::size_t kMost = 64;

  /// Null where the kernel refuses.
  static std::unique_ptr<ReadQueue> make();
  ~ReadQueue();
  ReadQueue(const ReadQueue&) = delete;
  ReadQueue& operator=(const ReadQueue&) = delete;

  /// Reads all pieces, kMost at a time, and returns when they came or failed.
  void read(int file, std::span<FilePiece> pieces);

 private:
  explicit ReadQueue(std::uint64_t context) : context_(context) {}
  void read_some(int file, std::span<FilePiece> pieces);

  const std::uint64_t context_;
};

/// Queues that threads take in turn; as many as were ever in use at a time.
class ReadQueues {
 public:
  /// Reads with a queue that is free, or one after the other where there can be none.
  void read(int file, std::span<FilePiece> pieces);

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<ReadQueue>> free_;
};

/// Reads one piece. Returns the bytes that came, or -errno.
std::int64_t read_piece(int file, const FilePiece& piece);

}  // namespace forebay
