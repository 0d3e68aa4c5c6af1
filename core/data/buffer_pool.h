#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/data/memory_budget.h"

namespace forebay {

class BufferPool;

/// Contiguous memory from a BufferPool; its destructor returns it to the pool. Move-only; one owner
/// at a time.
///
/// Starts on a 64-byte boundary. kPadding bytes past size() may be read and written too, so that
/// vector code needs no special last step. The initial contents are undefined.
class Buffer {
 public:
  static constexpr std::size_t kPadding = 64;

  Buffer() = default;
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    Buffer(std::move(other)).swap(*this);
    return *this;
  }
  ~Buffer();

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  explicit operator bool() const { return data_ != nullptr; }

  /// Reduces size() to the bytes that were filled; the reservation does not change.
  void shrink(std::size_t size) {
    FOREBAY_CHECK(size <= size_);
    size_ = size;
  }

  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data_);
  }

 private:
  friend class BufferPool;
  Buffer(BufferPool* pool, std::byte* data, std::size_t size, std::size_t reserved)
      : pool_(pool), data_(data), size_(size), reserved_(reserved) {}
  void swap(Buffer& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(reserved_, other.reserved_);
  }

  BufferPool* pool_ = nullptr;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t reserved_ = 0;
};

/// Hands out Buffers and keeps returned ones for reuse. All of them count towards one MemoryBudget,
/// also the idle ones.
///
/// Owns the memory; must outlive its Buffers. Any thread may take and drop Buffers. `take` never
/// refuses: credits decide beforehand how much each caller may take. When a take would pass the
/// budget's limit, the pool first gives idle buffers back to the system. While more is taken than a
/// lowered limit allows, the pool also gives every returned buffer back to the system.
class BufferPool {
 public:
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
  std::byte* reuse(std::size_t reserved);

  MemoryBudget& budget_;
  std::mutex mutex_;
  std::map<std::size_t, std::vector<std::byte*>> idle_;  // by reserved size; under mutex_
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
