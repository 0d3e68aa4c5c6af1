#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/base/check.h"

namespace forebay {

/// Counts the bytes that a pipeline holds against a limit.
///
/// Owns two numbers and their peak, nothing else. Any thread may call it at any time. `try_take`
/// refuses bytes that do not fit. `take` always counts them; use it for memory that was reserved
/// beforehand (see design/memory.md).
class MemoryBudget {
 public:
  explicit MemoryBudget(std::size_t limit) : limit_(limit) {}
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  [[nodiscard]] bool try_take(std::size_t bytes);
  void take(std::size_t bytes);
  void give(std::size_t bytes);

  std::size_t used() const { return used_.load(std::memory_order_relaxed); }
  std::size_t peak() const { return peak_.load(std::memory_order_relaxed); }
  std::size_t limit() const { return limit_.load(std::memory_order_relaxed); }
  void set_limit(std::size_t limit) { limit_.store(limit, std::memory_order_relaxed); }

 private:
  void raise_peak(std::size_t used);

  std::atomic<std::size_t> limit_;
  std::atomic<std::size_t> used_{0};
  std::atomic<std::size_t> peak_{0};
};

class BufferPool;

/// Returns the bytes that a pool reserves for a few buffers of `bytes` in all: it rounds each up by
/// at most an eighth, and to whole pages.
constexpr std::uint64_t pool_bytes(std::uint64_t bytes) { return bytes + bytes / 8 + (16 << 10); }

/// Contiguous memory from a BufferPool; its destructor returns it to the pool. Move-only; one owner
/// at a time.
///
/// Starts on a 64-byte boundary. kPadding bytes past size() may be read and written too, so that
/// vector code needs no special last step. The initial contents are undefined.
class Buffer {
 public:
  static constexpr std::size_t kPadding = 64;

  Buffer() = default;

  std::byte* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  explicit operator bool() const { return data_ != nullptr; }

  /// Reduces size() to the bytes that were filled; the reservation does not change.
  void shrink(std::size_t size) {
    FOREBAY_CHECK(size <= size_);
    size_ = size;
  }

  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data());
  }

 private:
  friend class BufferPool;
  struct PutBack {
    BufferPool* pool;
    std::size_t reserved;
    void operator()(std::byte* data) const;
  };
  Buffer(BufferPool* pool, std::byte* data, std::size_t size, std::size_t reserved)
      : data_(data, {pool, reserved}), size_(size) {}

  std::unique_ptr<std::byte, PutBack> data_;
  std::size_t size_ = 0;
};

/// Hands out Buffers and keeps returned ones for reuse. All of them count towards one MemoryBudget,
/// also the idle ones.
///
/// Owns the memory; must outlive its Buffers. Any thread may take and drop Buffers. `take` never
/// refuses: credits decide beforehand how much each caller may take. When a take would pass the
/// budget's limit, the pool first gives idle buffers back to the system. While more is taken than a
/// lowered limit allows, the pool also gives every returned buffer back to the system. A buffer
/// that stays idle for kIdleTakes calls of `take` goes there too; otherwise the pool would grow to
/// the sum of the most that was ever taken of each size.
class BufferPool {
 public:
  static constexpr std::uint64_t kIdleTakes = 1024;

  explicit BufferPool(MemoryBudget& budget) : budget_(budget) {}
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  Buffer take(std::size_t bytes);

  /// Gives idle memory back to the system.
  void trim();

  MemoryBudget& budget() const { return budget_; }

 private:
  friend class Buffer;
  void put_back(std::byte* data, std::size_t reserved);
  void unmap(std::byte* data, std::size_t reserved);
  void unmap_unused();
  std::byte* reuse(std::size_t reserved);

  struct Idle {
    std::byte* data;
    std::uint64_t since;  // takes_ when it was returned
  };

  MemoryBudget& budget_;
  std::mutex mutex_;
  std::map<std::size_t, std::vector<Idle>>
      idle_;                 // by reserved size, the latest last; under mutex_
  std::uint64_t takes_ = 0;  // under mutex_
};

/// Cuts one slab into columns, each aligned and padded like a Buffer, so that a split needs one
/// buffer instead of one for each column. The slab's size is the sum of aligned() over the columns.
class SlabCarver {
 public:
  explicit SlabCarver(std::byte* slab) : at_(slab) {}

  template <class T>
  T* take(std::size_t count) {
    T* column = reinterpret_cast<T*>(at_);
    at_ += aligned<T>(count);
    return column;
  }

  /// Bytes that a column of `count` elements occupies: at least kPadding more than its data.
  template <class T>
  static constexpr std::size_t aligned(std::size_t count) {
    return (count * sizeof(T) + 2 * Buffer::kPadding - 1) / Buffer::kPadding * Buffer::kPadding;
  }

 private:
  std::byte* at_;
};

}  // namespace forebay
