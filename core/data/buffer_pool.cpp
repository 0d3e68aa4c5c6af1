#include "core/data/buffer_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <new>

#include "core/base/check.h"

namespace forebay {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::uint64_t kTakesBetweenLooks = BufferPool::kIdleTakes / 16;

/// Rounds up to one of eight sizes per power of two, so that buffers of similar size are
/// interchangeable and at most an eighth of a buffer is unused.
std::size_t size_class(std::size_t bytes) {
  if (bytes <= 8 * kPage) return (bytes + kPage - 1) / kPage * kPage;
  const std::size_t step = std::bit_floor(bytes - 1) / 8;
  return (bytes + step - 1) / step * step;
}

std::byte* map_pages(std::size_t bytes) {
  void* pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  return static_cast<std::byte*>(pages);
}

}  // namespace

bool MemoryBudget::try_take(std::size_t bytes) {
  std::size_t used = used_.load(std::memory_order_relaxed);
  do {
    if (used + bytes > limit()) return false;
  } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  raise_peak(used + bytes);
  return true;
}

void MemoryBudget::take(std::size_t bytes) {
  raise_peak(used_.fetch_add(bytes, std::memory_order_relaxed) + bytes);
}

void MemoryBudget::give(std::size_t bytes) {
  const std::size_t before = used_.fetch_sub(bytes, std::memory_order_relaxed);
  FOREBAY_CHECK(before >= bytes);
}

void MemoryBudget::raise_peak(std::size_t used) {
  std::size_t peak = peak_.load(std::memory_order_relaxed);
  while (used > peak && !peak_.compare_exchange_weak(peak, used, std::memory_order_relaxed)) {
  }
}

void Buffer::PutBack::operator()(std::byte* data) const { pool->put_back(data, reserved); }

BufferPool::~BufferPool() { trim(); }

Buffer BufferPool::take(std::size_t bytes) {
  const std::size_t reserved = size_class(bytes + Buffer::kPadding);
  std::byte* data = reuse(reserved);
  if (data == nullptr) {
    if (!budget_.try_take(reserved)) {
      trim();
      budget_.take(reserved);
    }
    data = map_pages(reserved);
  }
  return Buffer(this, data, bytes, reserved);
}

std::byte* BufferPool::reuse(std::size_t reserved) {
  const std::lock_guard lock(mutex_);
  if (++takes_ % kTakesBetweenLooks == 0) unmap_unused();
  const auto found = idle_.find(reserved);
  if (found == idle_.end() || found->second.empty()) return nullptr;
  std::byte* data = found->second.back().data;
  found->second.pop_back();
  return data;
}

void BufferPool::put_back(std::byte* data, std::size_t reserved) {
  if (budget_.used() > budget_.limit()) {
    unmap(data, reserved);
    return;
  }
  const std::lock_guard lock(mutex_);
  idle_[reserved].push_back({data, takes_});
}

void BufferPool::unmap(std::byte* data, std::size_t reserved) {
  FOREBAY_CHECK(::munmap(data, reserved) == 0);
  budget_.give(reserved);
}

// The latest returned is the first that is taken again, so unused ones stand in front.
void BufferPool::unmap_unused() {
  if (takes_ < kIdleTakes) return;
  for (auto& [reserved, buffers] : idle_) {
    const auto used = std::find_if(buffers.begin(), buffers.end(), [this](const Idle& idle) {
      return idle.since > takes_ - kIdleTakes;
    });
    for (auto at = buffers.begin(); at != used; ++at) unmap(at->data, reserved);
    buffers.erase(buffers.begin(), used);
  }
}

void BufferPool::trim() {
  const std::lock_guard lock(mutex_);
  for (auto& [reserved, buffers] : idle_) {
    for (const Idle& idle : buffers) unmap(idle.data, reserved);
  }
  idle_.clear();
}

}  // namespace forebay
