#include "engine/run/metered_source.h"

namespace forebay {

Result<std::shared_ptr<const Batch>> MeteredSource::next() {
  busy_.store(false, std::memory_order_relaxed);
  finish_step(clock_.now());
  if (batches() >= max_batches_ || stopped_.load(std::memory_order_relaxed)) {
    return std::shared_ptr<const Batch>();
  }
  begin_wait();
  auto batch = pipeline_.next();
  const auto got = end_wait();
  if (!batch) return batch;
  if (*batch == nullptr) {
    reached_end_ = !stopped_.load(std::memory_order_relaxed) && pipeline_.ended();
    if (reached_end_) position_ = pipeline_.end_position();
    if (on_given_) on_given_(position_);
    return batch;
  }
  position_ = (*batch)->after;
  if (on_given_) on_given_(position_);
  batches_.fetch_add(1, std::memory_order_relaxed);
  rows_.fetch_add((*batch)->rows, std::memory_order_relaxed);
  busy_.store(true, std::memory_order_relaxed);
  given_ = got;
  return batch;
}

bool MeteredSource::wait(std::chrono::nanoseconds most) {
  busy_.store(false, std::memory_order_relaxed);
  finish_step(clock_.now());
  if (batches() >= max_batches_ || stopped_.load(std::memory_order_relaxed)) return true;
  begin_wait();
  const bool ready = pipeline_.wait(most);
  end_wait();
  busy_.store(true, std::memory_order_relaxed);
  return ready;
}

void MeteredSource::begin_wait() {
  asked_ns_.store(clock_.now().count(), std::memory_order_relaxed);
}

std::chrono::nanoseconds MeteredSource::end_wait() {
  const std::int64_t asked = asked_ns_.exchange(0, std::memory_order_relaxed);
  const auto now = clock_.now();
  waited_ns_.fetch_add(now.count() - asked, std::memory_order_relaxed);
  return now;
}

void MeteredSource::finish_step(std::chrono::nanoseconds now) {
  if (!given_) return;
  worked_ns_.fetch_add((now - *given_).count(), std::memory_order_relaxed);
  steps_.fetch_add(1, std::memory_order_relaxed);
  given_.reset();
}

void MeteredSource::begin_pause() {
  pause_began_ns_.store(clock_.now().count(), std::memory_order_relaxed);
}

void MeteredSource::end_pause() {
  const auto lasted = clock_.now().count() - pause_began_ns_.exchange(0);
  paused_ns_.fetch_add(lasted, std::memory_order_relaxed);
  if (given_) *given_ += std::chrono::nanoseconds(lasted);
}

std::chrono::nanoseconds MeteredSource::paused() const {
  const std::int64_t began = pause_began_ns_.load(std::memory_order_relaxed);
  const std::int64_t now = began == 0 ? 0 : clock_.now().count() - began;
  return std::chrono::nanoseconds(paused_ns_.load(std::memory_order_relaxed) + now);
}

std::chrono::nanoseconds MeteredSource::waited() const {
  const std::int64_t asked = asked_ns_.load(std::memory_order_relaxed);
  const std::int64_t now = asked == 0 ? 0 : clock_.now().count() - asked;
  return std::chrono::nanoseconds(waited_ns_.load(std::memory_order_relaxed) + now);
}

}  // namespace forebay
