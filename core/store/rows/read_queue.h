#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <span>

#include "core/base/check.h"
#include "core/base/open_files.h"

namespace forebay {

/// Memory aligned for direct reads and writes.
class DirectMemory {
 public:
  explicit DirectMemory(std::size_t bytes)
      : size_(whole_pages(bytes)),
        memory_(static_cast<char*>(std::aligned_alloc(kDirectPage, size_)), &std::free) {
    FOREBAY_CHECK(memory_ != nullptr);
  }

  char* data() const { return memory_.get(); }
  std::size_t size() const { return size_; }

 private:
  std::size_t size_;
  std::unique_ptr<char, void (*)(void*)> memory_;
};

/// The location of a page: a file and a byte offset.
struct PageLocation {
  int file = -1;
  std::uint64_t offset = 0;
};

/// Reads pages at random locations of the disk, `kDepth` at a time, from one thread. Uses the
/// kernel's asynchronous interface (io_submit), which takes many requests in one call and a third
/// of the CPU time of threads that each wait for one read. If the kernel refuses it, uses waiting
/// threads. Belongs to one thread at a time.
class ReadQueue {
 public:
  static constexpr std::size_t kDepth = 128;
  enum class Way : std::uint8_t { kBest, kThreads };

  explicit ReadQueue(std::size_t page_bytes, Way way = Way::kBest);
  ~ReadQueue();
  ReadQueue(const ReadQueue&) = delete;
  ReadQueue& operator=(const ReadQueue&) = delete;

  static std::size_t memory_bytes(std::size_t page_bytes) { return kDepth * page_bytes; }

  /// `read`: the bytes read, fewer at the end of the file, or -errno. The callee may use `page`
  /// until it returns. With Way::kThreads, several threads call it at a time.
  using ReadCallback = std::function<void(std::size_t index, std::int64_t read, char* page)>;

  /// Calls `on_read` once for each place, in any order; returns after the last call.
  void read(std::span<const PageLocation> places, const ReadCallback& on_read);

 private:
  struct Running;

  void read_by_threads(std::span<const PageLocation> places, const ReadCallback& on_read);
  char* page(std::size_t slot) const { return memory_.data() + slot * page_bytes_; }

  const std::size_t page_bytes_;
  const DirectMemory memory_;
  std::uint64_t context_ = 0;  ///< The kernel's AIO context; 0: the kernel refused one.
};

/// Reads `size` bytes at a place. Returns the number of bytes read, or -errno.
std::int64_t read_piece(PageLocation place, char* to, std::size_t size);

}  // namespace forebay
