#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace forebay::tuner {

/// A split in work.
struct Service {
  double work = 0;     ///< Seconds it takes with CPUs for all.
  double taken = 0;    ///< When its actor took it.
  double started = 0;  ///< When its actor began it: later if starts are spaced.
  std::uint32_t actors = 0;
};

/// The splits in work in one stage, the next to end on top: a binary heap of (end on the stage's
/// clock, slot). reserve() allocates; no other method does.
class ServiceHeap {
 public:
  void reserve(std::size_t actors) {
    if (actors <= slots_.size()) return;
    for (std::size_t slot = slots_.size(); slot < actors; ++slot) {
      free_.push_back(static_cast<std::uint32_t>(slot));
    }
    slots_.resize(actors);
    heap_.reserve(actors);
  }

  bool empty() const { return heap_.empty(); }
  std::size_t size() const { return heap_.size(); }
  double top_end() const { return heap_.front().end; }
  const Service& top() const { return slots_[heap_.front().slot]; }

  void push(double end, const Service& service) {
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    slots_[slot] = service;
    heap_.emplace_back();
    rise(heap_.size() - 1, {end, slot});
  }
  void replace_top(double end, const Service& service) {
    const std::uint32_t slot = heap_.front().slot;
    slots_[slot] = service;
    sink({end, slot});
  }
  void pop() {
    free_.push_back(heap_.front().slot);
    const Entry last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sink(last);
  }

  /// Sum of the work done so far in all splits when the stage's clock shows `clock`.
  double progress(double clock) const {
    double sum = 0;
    for (const Entry& entry : heap_) sum += slots_[entry.slot].work - (entry.end - clock);
    return sum;
  }

 private:
  struct Entry {
    double end = 0;
    std::uint32_t slot = 0;
  };

  void rise(std::size_t at, Entry entry) {
    for (; at > 0 && entry.end < heap_[(at - 1) / 2].end; at = (at - 1) / 2) {
      heap_[at] = heap_[(at - 1) / 2];
    }
    heap_[at] = entry;
  }
  void sink(Entry entry) {
    const std::size_t size = heap_.size();
    std::size_t at = 0;
    for (std::size_t child = 1; child < size; child = 2 * at + 1) {
      if (child + 1 < size && heap_[child + 1].end < heap_[child].end) ++child;
      if (!(heap_[child].end < entry.end)) break;
      heap_[at] = heap_[child];
      at = child;
    }
    heap_[at] = entry;
  }

  std::vector<Entry> heap_;
  std::vector<Service> slots_;
  std::vector<std::uint32_t> free_;
};

}  // namespace forebay::tuner
