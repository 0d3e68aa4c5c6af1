#include "tools/run/metered_source.h"

namespace forebay {

Result<std::shared_ptr<const Batch>> MeteredSource::next() {
  busy_.store(false, std::memory_order_relaxed);
  if (batches() >= max_batches_ || stopped_.load(std::memory_order_relaxed)) {
    return std::shared_ptr<const Batch>();
  }
  const auto asked = clock_.now();
  asked_ns_.store(asked.count(), std::memory_order_relaxed);
  auto batch = pipeline_.next();
  asked_ns_.store(0, std::memory_order_relaxed);
  waited_ns_.fetch_add((clock_.now() - asked).count(), std::memory_order_relaxed);
  if (!batch) return batch;
  if (*batch == nullptr) {
    reached_end_ = !stopped_.load(std::memory_order_relaxed) && pipeline_.ended();
    if (reached_end_) position_ = pipeline_.end_position();
    return batch;
  }
  position_ = (*batch)->after;
  batches_.fetch_add(1, std::memory_order_relaxed);
  rows_.fetch_add((*batch)->rows, std::memory_order_relaxed);
  busy_.store(true, std::memory_order_relaxed);
  return batch;
}

std::chrono::nanoseconds MeteredSource::waited() const {
  const std::int64_t asked = asked_ns_.load(std::memory_order_relaxed);
  const std::int64_t now = asked == 0 ? 0 : clock_.now().count() - asked;
  return std::chrono::nanoseconds(waited_ns_.load(std::memory_order_relaxed) + now);
}

}  // namespace forebay
