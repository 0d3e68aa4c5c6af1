#include "trainer/embedding/tiered_tables.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "core/base/check.h"

namespace forebay {
namespace {

// Slots inspected per slot needed: a larger sample comes closer to the least often seen rows.
constexpr std::size_t kSample = 4;
// Counts are halved after this many additions per slot.
constexpr std::uint64_t kFade = 16;
constexpr std::uint64_t kPrefetch = 8;
constexpr std::uint64_t kOutOfTurn = 0;
// Working memory of a batch as a share: its distinct rows are at most a quarter of the slots (two
// batches fit).
constexpr std::uint64_t kScratchShare = 16;

std::uint64_t all_rows(const TableLayout& layout) {
  return std::accumulate(
      layout.rows.begin(), layout.rows.end(), std::uint64_t{0},
      [](std::uint64_t sum, std::int64_t rows) { return sum + static_cast<std::uint64_t>(rows); });
}

/// Bytes with a snapshot: it keeps a copy of the index while it is read; a whole snapshot also has
/// a log of its own and, for it, a list of the slots' keys.
std::uint64_t bytes_with(const TableLayout& layout, std::uint64_t slots,
                         TieredTables::Snapshot snapshot) {
  const std::uint64_t rows = all_rows(layout);
  const std::uint64_t row = layout.row_bytes();
  const std::uint64_t on_disk = RowLog::memory_bytes(TieredTables::disk_options(layout)) + rows / 8;
  const std::uint64_t linked = slots * sizeof(std::int64_t) + rows / 8;
  const bool whole = snapshot == TieredTables::Snapshot::kWhole;
  const std::uint64_t kept = whole ? linked + on_disk + slots * sizeof(std::int64_t) : linked;
  return on_disk + kept + FrequencySketch::bytes(2 * slots) + RowIndex::bytes(slots) +
         slots * (row + sizeof(std::uint32_t) + 1) + slots * row / kScratchShare;
}

}  // namespace

RowLog::Options TieredTables::disk_options(const TableLayout& layout) {
  return {.row_bytes = layout.row_bytes(), .most_rows = all_rows(layout)};
}

std::uint64_t TieredTables::slots_in(const TableLayout& layout, std::uint64_t memory_bytes,
                                     Snapshot snapshot) {
  std::uint64_t low = 0;
  std::uint64_t high = std::min<std::uint64_t>(all_rows(layout), INT32_MAX - 1);
  while (low < high) {
    const std::uint64_t middle = low + (high - low + 1) / 2;
    if (bytes_with(layout, middle, snapshot) <= memory_bytes) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

Result<std::unique_ptr<TieredTables>> TieredTables::make(const TableLayout& layout,
                                                         const Options& options, CopyRoom& room) {
  const std::uint64_t slots = slots_in(layout, options.memory_bytes, options.snapshot);
  if (slots == 0) {
    return fail(Code::kOverloaded,
                "trainer.tables.memory = " + std::to_string(options.memory_bytes >> 20) +
                    " MiB holds none of the tables' rows: finding them takes " +
                    std::to_string((bytes_with(layout, 1, options.snapshot) >> 20) + 1) + " MiB");
  }
  auto tables = std::unique_ptr<TieredTables>(new TieredTables(layout, options, slots, room));
  if (auto opened = tables->open_disk(""); !opened) return pass(opened);
  return tables;
}

Status TieredTables::open_disk(const std::string& from) {
  disk_.reset();
  auto disk = RowLog::create(options_.folder, disk_options(layout_), from);
  if (!disk) return pass(disk);
  disk_ = std::move(*disk);
  fetcher_.read_from(*disk_);
  return {};
}

TieredTables::TieredTables(const TableLayout& layout, const Options& options, std::uint64_t slots,
                           CopyRoom& room)
    : layout_(layout),
      options_(options),
      all_rows_(all_rows(layout)),
      arena_(slots, layout.width, layout.state_width, room),
      index_(slots),
      last_turn_(slots),
      flags_(slots),
      written_(all_rows_ / 8 + 1),
      seen_(2 * slots),
      fetcher_(arena_) {
  std::uint64_t first = 0;
  for (std::size_t feature = 0; feature < layout.rows.size(); ++feature) {
    first_number_.push_back(first);
    first += static_cast<std::uint64_t>(layout.rows[feature]);
    values_.push_back(layout.values_of(feature));
  }
}

void TieredTables::finish(std::uint64_t turn) {
  // For a cancelled batch: its slots are about to be reassigned. An error is permanent.
  (void)fetcher_.await(turn);
  for (; finished_ < turn; ++finished_) {
    if (pins_.empty()) continue;
    pinned_ -= pins_.front();
    pins_.pop_front();
  }
}

void TieredTables::pin(std::int32_t slot, std::uint64_t turn) {
  std::uint32_t& last = last_turn_[static_cast<std::size_t>(slot)];
  if (last == turn) return;
  if (pins_.size() < turn - finished_) pins_.resize(turn - finished_);
  if (last > finished_) {
    --pins_[last - finished_ - 1];
  } else {
    ++pinned_;
  }
  ++pins_[turn - finished_ - 1];
  last = static_cast<std::uint32_t>(turn);
}

bool TieredTables::is_free(std::int32_t slot) const {
  const auto at = static_cast<std::size_t>(slot);
  return last_turn_[at] <= finished_ && (flags_[at] & kHeld) == 0;
}

template <class Hold>
void TieredTables::find(BatchRows& rows, const Hold& hold) {
  missing_.clear();
  for (std::size_t feature = 0; feature < rows.features(); ++feature) {
    const std::uint64_t first = first_number_[feature];
    const std::size_t end = rows.first_row[feature + 1];
    for (std::size_t row = rows.first_row[feature]; row < end; ++row) {
      if (row + kPrefetch < end) {
        index_.prefetch(static_cast<std::int64_t>(first) + rows.keys[row + kPrefetch]);
      }
      const std::uint64_t number = first + static_cast<std::uint64_t>(rows.keys[row]);
      const std::int32_t slot = index_.find(static_cast<std::int64_t>(number));
      rows.slots[row] = slot;
      if (slot == RowIndex::kNone) {
        missing_.push_back(
            {number, static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(feature), slot});
      } else {
        hold(slot);
      }
    }
  }
}

Status TieredTables::prepare(BatchRows& rows, std::uint64_t turn) {
  if (!broken_) return broken_;
  fetcher_.wait_for_turn();
  most_rows_ = std::max(most_rows_, rows.num_rows());
  find(rows, [&](std::int32_t slot) { pin(slot, turn); });
  // Leaves slots for a batch out of turn while looking ahead; the next batch itself may use them
  // all.
  const std::size_t spared = turn == finished_ + 1 ? 0 : most_rows_;
  const std::size_t taken = pinned_ + held_ + spared;
  const std::size_t slots = arena_.slots();
  if (auto status = bring(rows, slots > taken ? slots - taken : 0, turn); !status) return status;
  for (const Missing& row : missing_) pin(row.slot, turn);
  for (const std::int32_t slot : rows.slots) flags_[static_cast<std::size_t>(slot)] |= kDirty;
  count(rows);
  return {};
}

Status TieredTables::borrow(BatchRows& rows, Use use) {
  if (!broken_) return broken_;
  if (auto came = fetcher_.drain(); !came) return came;
  FOREBAY_CHECK(held_ == 0);
  find(rows, [&](std::int32_t slot) {
    std::uint8_t& flags = flags_[static_cast<std::size_t>(slot)];
    if (is_free(slot)) ++held_;
    flags |= kHeld;
  });
  const std::size_t taken = pinned_ + held_;
  const std::size_t room = arena_.slots() - std::min(taken, arena_.slots());
  Status brought = bring(rows, room, kOutOfTurn);
  if (brought) brought = fetcher_.await(kOutOfTurn);
  if (!brought) {
    give_back(rows);
    return brought;
  }
  held_ += missing_.size();
  const auto flags = static_cast<std::uint8_t>(use == Use::kTrain ? kHeld | kDirty : kHeld);
  for (const std::int32_t slot : rows.slots) flags_[static_cast<std::size_t>(slot)] |= flags;
  if (use == Use::kTrain) count(rows);
  return {};
}

void TieredTables::give_back(const BatchRows& rows) {
  for (const std::int32_t slot : rows.slots) {
    if (slot != RowIndex::kNone) flags_[static_cast<std::size_t>(slot)] &= ~kHeld;
  }
  held_ = 0;
}

void TieredTables::count(const BatchRows& rows) {
  for (std::size_t row = 0; row < rows.num_rows(); ++row) {
    seen_.add(index_.key_of(rows.slots[row]), 1);
  }
  counted_ += rows.num_rows();
  if (counted_ < kFade * arena_.slots()) return;
  seen_.halve();
  counted_ = 0;
}

Status TieredTables::bring(BatchRows& rows, std::uint64_t room, std::uint64_t turn) {
  if (missing_.empty()) return {};
  if (missing_.size() > room || !choose_slots()) {
    return fail(Code::kOverloaded,
                "the tables' memory holds " + std::to_string(arena_.slots()) + " rows, " +
                    std::to_string(room) + " are free and batch " + std::to_string(rows.batch) +
                    " needs " + std::to_string(missing_.size()) +
                    " more; raise trainer.tables.memory or lower order.batch_size");
  }
  for (const Missing& row : missing_) {
    rows.fetched_lookups += static_cast<std::uint64_t>(rows.times[row.row]);
    rows.slots[row.row] = row.slot;
  }
  broken_ = write_leaving();
  if (!broken_) return broken_;
  RowFetcher::Rows wanted = make_rows(rows);
  wanted.turn = turn;
  if (!wanted.numbers.empty()) fetcher_.fetch(std::move(wanted));
  return {};
}

/// Assigns a slot to each missing row: unused slots first, then those of the rows seen least among
/// a sample of the free ones. Returns false, without a change, if there are too few.
bool TieredTables::choose_slots() {
  std::size_t next = 0;
  leaving_.clear();
  candidates_.clear();
  const std::size_t slots = arena_.slots();
  const std::size_t unused = std::min(missing_.size(), slots - index_.size());
  const std::size_t wanted = missing_.size() - unused;
  for (std::size_t looked = 0; looked < slots; ++looked) {
    if (next == unused && candidates_.size() >= kSample * wanted) break;
    const auto slot = static_cast<std::int32_t>(hand_);
    if (++hand_ == slots) hand_ = 0;
    if ((flags_[static_cast<std::size_t>(slot)] & kUsed) == 0) {
      if (next < unused) missing_[next++].slot = slot;
    } else if (wanted > 0 && is_free(slot)) {
      const std::uint64_t seen = seen_.count(index_.key_of(slot));
      candidates_.push_back(seen << 32 | static_cast<std::uint32_t>(slot));
    }
  }
  if (next < unused || candidates_.size() < wanted) return false;
  std::ranges::nth_element(candidates_, candidates_.begin() + static_cast<std::ptrdiff_t>(wanted));
  for (std::size_t i = 0; i < wanted; ++i) {
    const auto slot = static_cast<std::int32_t>(candidates_[i] & 0xffffffffU);
    evict(slot);
    missing_[next++].slot = slot;
  }
  for (const Missing& row : missing_) {
    index_.put(static_cast<std::int64_t>(row.number), row.slot);
    flags_[static_cast<std::size_t>(row.slot)] = kUsed;
  }
  return true;
}

void TieredTables::evict(std::int32_t slot) {
  if ((flags_[static_cast<std::size_t>(slot)] & kDirty) != 0) {
    leaving_.emplace_back(static_cast<std::uint64_t>(index_.key_of(slot)), slot);
  }
  index_.erase(slot);
}

Status TieredTables::write_leaving() {
  const std::size_t weights = layout_.width * sizeof(float);
  const std::size_t state = layout_.state_width * sizeof(float);
  leaving_numbers_.clear();
  for (const auto& [number, slot] : leaving_) {
    leaving_numbers_.push_back(number);
    written_[number / 8] |= static_cast<std::uint8_t>(1U << (number % 8));
  }
  traffic_.written += leaving_.size();
  return disk_->write(leaving_numbers_, [&](std::size_t place, std::span<std::byte> row) {
    const auto slot = static_cast<std::size_t>(leaving_[place].second);
    std::memcpy(row.data(), arena_.weights(slot), weights);
    if (state > 0) std::memcpy(row.data() + weights, arena_.state(slot), state);
  });
}

/// Fills the slots of rows that were never written to the disk and returns the other rows.
RowFetcher::Rows TieredTables::make_rows(const BatchRows& rows) {
  slots_.clear();
  for (const Missing& row : missing_) slots_.push_back(row.slot);
  arena_.before_refill(slots_);
  RowFetcher::Rows wanted;
  for (const Missing& row : missing_) {
    if (was_written(row.number)) {
      wanted.numbers.push_back(row.number);
      wanted.slots.push_back(row.slot);
      wanted.times.push_back(rows.times[row.row]);
      continue;
    }
    const auto slot = static_cast<std::size_t>(row.slot);
    const auto key = layout_.first_of(row.feature) +
                     static_cast<std::int64_t>(row.number - first_number_[row.feature]);
    values_[row.feature].fill(key, {arena_.weights(slot), layout_.width});
    std::fill_n(arena_.state(slot), layout_.state_width, 0.0f);
    ++traffic_.made;
  }
  traffic_.read += wanted.numbers.size();
  return wanted;
}

}  // namespace forebay
