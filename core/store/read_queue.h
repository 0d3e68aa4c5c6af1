#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "core/store/direct_memory.h"

namespace forebay {

/// A page of a file, from `offset` on.
struct PageLocation {
  int file = -1;
  std::uint64_t offset = 0;
};

/// Reads pages from all over the disk, `kDepth` of them under way at a time by one thread: the
/// kernel's asynchronous interface (io_submit) is asked for many with a call, which costs a third
/// of the processor time that a thread waiting for each takes. Where the kernel refuses it, threads
/// wait. Belongs to one thread at a time.
class ReadQueue {
 public:
  static constexpr std::size_t kDepth = 128;
  enum class Way : std::uint8_t { kBest, kThreads };

  explicit ReadQueue(std::size_t page_bytes, Way way = Way::kBest);
  ~ReadQueue();
  ReadQueue(const ReadQueue&) = delete;
  ReadQueue& operator=(const ReadQueue&) = delete;

  static std::size_t memory_bytes(std::size_t page_bytes) { return kDepth * page_bytes; }

  /// `read`: the bytes that came, fewer at the end of the file, or -errno. `page` is the callee's
  /// until it returns. Of Way::kThreads, called by several threads at a time.
  using ReadCallback = std::function<void(std::size_t index, std::int64_t read, char* page)>;

  /// Calls `on_read` once for each place, in any order, and returns after the last.
  void read(std::span<const PageLocation> places, const ReadCallback& on_read);

 private:
  struct Running;

  void read_by_threads(std::span<const PageLocation> places, const ReadCallback& on_read);
  char* page(std::size_t slot) const { return memory_.data() + slot * page_bytes_; }

  const std::size_t page_bytes_;
  const DirectMemory memory_;
  std::uint64_t context_ = 0;  ///< The kernel's; 0: it has none for us.
};

/// Reads `size` bytes at a place. Returns the bytes that came, or -errno.
std::int64_t read_piece(PageLocation place, char* to, std::size_t size);

}  // namespace forebay
