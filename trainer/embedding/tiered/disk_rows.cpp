#include "trainer/embedding/tiered/disk_rows.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

namespace forebay {

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

RowLog::Options DiskRows::options(const TableLayout& layout) {
  return {.row_bytes = layout.row_bytes(), .most_rows = rows_of(layout)};
}

std::uint64_t DiskRows::memory_bytes(const TableLayout& layout) {
  return RowLog::memory_bytes(options(layout)) + rows_of(layout) / 8;
}

Status DiskRows::open(const std::string& from) {
  log_.reset();
  auto log = RowLog::create(folder_, options(layout_), from);
  if (!log) return pass(log);
  log_ = std::move(*log);
  return {};
}

std::size_t DiskRows::table_of(std::uint64_t number) const {
  return static_cast<std::size_t>(std::ranges::upper_bound(first_, number) - first_.begin()) - 1;
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

}  // namespace forebay
