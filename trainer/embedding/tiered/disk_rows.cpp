#include "trainer/embedding/tiered/disk_rows.h"

#include <cstring>
#include <limits>
#include <numeric>
#include <string_view>
#include <utility>

#include "core/base/check.h"
#include "core/runtime/actor.h"

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

/// Look-ahead → actor: read the rows of the next batch.
struct RowFetcher::ReadRows {
  static constexpr std::string_view kTag = "trainer.read_rows/1";
  Rows rows;
};

class RowFetcher::Reading final : public ActorOf<Reading, ReadRows> {
 public:
  explicit Reading(RowFetcher& fetcher) : fetcher_(fetcher) {}

  Status on(const ReadRows& next, Context&) {
    fetcher_.read_next(next.rows);
    return {};
  }

 private:
  RowFetcher& fetcher_;
};

RowFetcher::RowFetcher(RowArena& arena) : arena_(arena), threads_(clock_) {
  const auto lose = [this](const Error& crash) {
    end_first(fail(crash.code, "reading rows ahead failed: " + crash.message));
  };
  actor_ = threads_.spawn({.name = "reading rows ahead",
                           .restart = {.restarts = std::numeric_limits<std::size_t>::max()},
                           .on_crash = lose},
                          [this] { return std::make_unique<Reading>(*this); });
}

void RowFetcher::read_from(RowLog& disk) {
  progress_.change([&](Progress& now) {
    disk_ = &disk;
    now.status = {};
  });
}

void RowFetcher::wait_for_turn() {
  progress_.wait([](const Progress& now) { return now.batches.size() < kMostUnderWay; },
                 [](const Progress&) {});
}

void RowFetcher::fetch(Rows rows) {
  rows.lookups = std::accumulate(rows.times.begin(), rows.times.end(), std::uint64_t{0});
  progress_.change([&](Progress& now) { now.batches.push_back({rows.turn, rows.lookups}); });
  const Status told = actor_.tell(ReadRows{std::move(rows)});
  FOREBAY_CHECK(told);  // It never ends before this object, and few batches are in flight.
}

Status RowFetcher::await(std::uint64_t turn) {
  const auto is_read = [turn](const Progress& now) {
    return std::ranges::none_of(now.batches,
                                [&](const InFlight& each) { return each.turn <= turn; });
  };
  return progress_.wait(is_read, [](const Progress& now) { return now.status; });
}

std::uint64_t RowFetcher::awaited(std::uint64_t turn) const {
  return progress_.change([&](const Progress& now) -> std::uint64_t {
    for (const InFlight& each : now.batches) {
      if (each.turn != turn) continue;
      return each.lookups - (&each == &now.batches.front() ? came_.load() : 0);
    }
    return 0;
  });
}

void RowFetcher::read_next(const Rows& rows) {
  Status status = progress_.change([](const Progress& now) { return now.status; });
  if (status) status = read(rows);
  end_first(std::move(status));
}

void RowFetcher::end_first(Status status) {
  progress_.change([&](Progress& now) {
    now.status = std::move(status);
    now.batches.pop_front();
    came_ = 0;
  });
}

Status RowFetcher::read(const Rows& rows) {
  const std::size_t weights = arena_.width() * sizeof(float);
  const std::size_t state = arena_.state_width() * sizeof(float);
  return disk_->read(rows.numbers, [&](std::size_t place, std::span<const std::byte> row) {
    const auto slot = static_cast<std::size_t>(rows.slots.at(place));
    std::memcpy(arena_.weights(slot), row.data(), weights);
    if (state > 0) std::memcpy(arena_.state(slot), row.data() + weights, state);
    came_ += static_cast<std::uint64_t>(rows.times[place]);
  });
}

}  // namespace forebay
