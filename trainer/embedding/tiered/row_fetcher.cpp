#include "trainer/embedding/tiered/row_fetcher.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

namespace forebay {
namespace {

constexpr std::size_t kMostUnderWay = 2;

}  // namespace

void RowFetcher::read_from(RowLog& disk) {
  const std::lock_guard lock(mutex_);
  disk_ = &disk;
  status_ = {};
}

void RowFetcher::wait_for_turn() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return batches_.size() < kMostUnderWay; });
}

void RowFetcher::fetch(Rows rows) {
  rows.lookups = std::accumulate(rows.times.begin(), rows.times.end(), std::uint64_t{0});
  {
    const std::lock_guard lock(mutex_);
    batches_.push_back(std::move(rows));
  }
  const Status posted = worker_.post([this] { read_next(); });
  if (posted) return;
  const std::lock_guard lock(mutex_);
  status_ = posted;
  batches_.clear();
}

Status RowFetcher::await(std::uint64_t turn) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] {
    return std::ranges::none_of(batches_, [&](const Rows& each) { return each.turn <= turn; });
  });
  return status_;
}

std::uint64_t RowFetcher::awaited(std::uint64_t turn) const {
  const std::lock_guard lock(mutex_);
  for (const Rows& each : batches_) {
    if (each.turn != turn) continue;
    return each.lookups - (&each == &batches_.front() ? came_.load() : 0);
  }
  return 0;
}

void RowFetcher::read_next() {
  std::unique_lock lock(mutex_);
  const Rows& rows = batches_.front();
  Status status = status_;
  lock.unlock();
  if (status) status = read(rows);
  lock.lock();
  status_ = std::move(status);
  batches_.pop_front();
  came_ = 0;
  changed_.notify_all();
}

Status RowFetcher::read(const Rows& rows) {
  const std::size_t weights = arena_.width() * sizeof(float);
  const std::size_t state = arena_.state_width() * sizeof(float);
  return disk_->read(rows.numbers, [&](std::size_t place, std::span<const std::byte> row) {
    const auto slot = static_cast<std::size_t>(rows.slots[place]);
    std::memcpy(arena_.weights(slot), row.data(), weights);
    if (state > 0) std::memcpy(arena_.state(slot), row.data() + weights, state);
    came_ += static_cast<std::uint64_t>(rows.times[place]);
  });
}

}  // namespace forebay
