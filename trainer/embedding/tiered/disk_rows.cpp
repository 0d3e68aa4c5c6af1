#include "trainer/embedding/tiered/disk_rows.h"

#include <cstring>
#include <numeric>
#include <utility>

namespace forebay {
namespace {

constexpr std::size_t kMostUnderWay = 2;

}  // namespace

DiskRows::DiskRows(const TableLayout& layout, std::string folder)
    : layout_(layout), folder_(std::move(folder)), written_(rows_of(layout) / 8 + 1) {
  first_.push_back(0);
  for (std::size_t table = 0; table < layout.rows.size(); ++table) {
    first_.push_back(first_.back() + static_cast<std::uint64_t>(layout.rows[table]));
    values_.push_back(layout.values_of(table));
  }
}

std::uint64_t DiskRows::rows_of(const TableLayout& layout) {
  return static_cast<std::uint64_t>(
      std::accumulate(layout.rows.begin(), layout.rows.end(), std::int64_t{0}));
}

Status DiskRows::open(const std::string& from) {
  log_.reset();
  auto log = RowLog::create(folder_, options(layout_), from);
  if (!log) return pass(log);
  log_ = std::move(*log);
  return {};
}

Status DiskRows::write(std::span<const std::uint64_t> numbers, const RowLog::Fill& fill) {
  for (const std::uint64_t number : numbers) {
    written_[number / 8] |= static_cast<std::uint8_t>(1U << (number % 8));
  }
  return log_->write(numbers, fill);
}

Status DiskRows::write_part(std::span<const std::uint64_t> numbers, std::span<const float> values,
                            StateTensor::Part part) {
  const bool weights = part == StateTensor::Part::kWeights;
  const std::size_t at = weights ? 0 : layout_.width;
  const std::size_t own = weights ? layout_.width : layout_.state_width;
  const std::size_t all = layout_.width + layout_.state_width;
  std::vector<float> rows(numbers.size() * all);
  std::vector<std::uint64_t> known;
  std::vector<std::size_t> places;  // of known rows, in `rows`
  for (std::size_t i = 0; i < numbers.size() && !weights; ++i) {
    if (was_written(numbers[i])) {
      known.push_back(numbers[i]);
      places.push_back(i * all);
    } else {
      fill_first(table_of(numbers[i]), numbers[i], std::span(rows).subspan(i * all, layout_.width));
    }
  }
  auto read = log_->read(known, [&](std::size_t place, std::span<const std::byte> row) {
    std::memcpy(rows.data() + places[place], row.data(), row.size());
  });
  if (!read) return read;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::ranges::copy(values.subspan(i * own, own), rows.data() + i * all + at);
  }
  return write(numbers, [&](std::size_t place, std::span<std::byte> row) {
    std::memcpy(row.data(), rows.data() + place * all, row.size());
  });
}

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
