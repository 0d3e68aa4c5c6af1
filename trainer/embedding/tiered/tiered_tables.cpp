#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "trainer/embedding/slot_metadata.h"
#include "trainer/embedding/table_storage.h"
#include "trainer/embedding/tiered/disk_rows.h"
#include "trainer/embedding/tiered/tier_counts.h"
#include "trainer/embedding/tiered/tiered_state.h"

namespace forebay {
namespace {

using Snapshot = TrainerSpec::Tables::Snapshot;

// Slots inspected per slot needed: a larger sample comes closer to the least often seen rows.
constexpr std::size_t kSample = 4;
// Counts are halved after this many additions per slot.
constexpr std::uint64_t kFade = 16;
constexpr std::uint64_t kPrefetch = 8;
constexpr std::uint64_t kOutOfTurn = 0;
// Working memory of a batch as a share: its distinct rows are at most a quarter of the slots (two
// batches fit).
constexpr std::uint64_t kScratchShare = 16;

/// See make_tiered_tables.
class TieredTables final : public TableStorage {
 public:
  TieredTables(const TableLayout& layout, const TrainerSpec::Tables& spec, std::uint64_t slots,
               CopyRoom& room)
      : layout_(layout),
        spec_(spec),
        resident_(slots, layout, room),
        disk_(layout, spec.folder),
        pins_(slots),
        seen_(2 * slots),
        tiers_(empty_tiers(layout)),
        fetcher_(resident_.arena) {}

  Status open() {
    if (auto opened = disk_.open(""); !opened) return opened;
    fetcher_.read_from(disk_.log());
    return {};
  }

  std::vector<std::int64_t> folds() const override { return layout_.rows; }
  RowArena& arena(std::size_t) override { return resident_.arena; }
  bool looks_ahead() const override { return true; }

  Status prepare(BatchRows& rows, std::uint64_t turn) override {
    if (!broken_) return broken_;
    fetcher_.wait_for_turn();
    most_rows_ = std::max(most_rows_, rows.num_rows());
    find(rows, [&](std::size_t slot) { pins_.pin(slot, turn); });
    // Leaves slots for a batch out of turn while looking ahead; the next batch itself may use them
    // all.
    const std::size_t spared = turn == pins_.finished() + 1 ? 0 : most_rows_;
    const std::size_t taken = pins_.pinned() + held_ + spared;
    const std::size_t slots = resident_.arena.slots();
    if (auto status = bring(rows, slots > taken ? slots - taken : 0, turn); !status) return status;
    for (const Missing& row : missing_) pins_.pin(static_cast<std::size_t>(row.slot), turn);
    for (const std::int32_t slot : rows.slots)
      resident_.flags[static_cast<std::size_t>(slot)] |= ResidentRows::kDirty;
    count(rows);
    return {};
  }

  Status await(std::uint64_t turn) override { return fetcher_.await(turn); }
  std::uint64_t awaited(std::uint64_t turn) const override { return fetcher_.awaited(turn); }

  void finish(std::uint64_t turn) override {
    // For a cancelled batch: its slots are about to be reassigned. An error is permanent.
    (void)fetcher_.await(turn);
    pins_.finish(turn);
  }

  Status borrow(BatchRows& rows, Use use) override {
    if (!broken_) return broken_;
    if (auto came = fetcher_.drain(); !came) return came;
    FOREBAY_CHECK(held_ == 0);
    find(rows, [&](std::size_t slot) {
      if (is_free(slot)) ++held_;
      resident_.flags[slot] |= ResidentRows::kHeld;
    });
    const std::size_t taken = pins_.pinned() + held_;
    const std::size_t room = resident_.arena.slots() - std::min(taken, resident_.arena.slots());
    Status brought = bring(rows, room, kOutOfTurn);
    if (brought) brought = fetcher_.await(kOutOfTurn);
    if (!brought) {
      give_back(rows);
      return brought;
    }
    held_ += missing_.size();
    const auto flags = static_cast<std::uint8_t>(
        use == Use::kTrain ? ResidentRows::kHeld | ResidentRows::kDirty : ResidentRows::kHeld);
    for (const std::int32_t slot : rows.slots)
      resident_.flags[static_cast<std::size_t>(slot)] |= flags;
    if (use == Use::kTrain) count(rows);
    return {};
  }

  std::vector<TableTiers> tiers() const override { return tiers_.tables(); }

  void give_back(const BatchRows& rows) override {
    for (const std::int32_t slot : rows.slots) {
      if (slot != RowIndex::kNone)
        resident_.flags[static_cast<std::size_t>(slot)] &= ~ResidentRows::kHeld;
    }
    held_ = 0;
  }

  Result<std::unique_ptr<StateSource>> snapshot(std::vector<MemoryTensor> others) override {
    if (!broken_) return pass(broken_);
    if (auto came = fetcher_.drain(); !came) return pass(came);
    auto linked =
        snapshot_of_tiers(resident_, disk_, spec_.folder + ".snapshot", std::move(others));
    if (!linked || spec_.snapshot == Snapshot::kLinked) return linked;
    return whole_tables(layout_, std::move(*linked), spec_.folder + ".whole");
  }

  /// Restores a linked snapshot, or whole tables.
  Status restore(StateSource& from, std::vector<MemoryTensor> others) override {
    if (auto fits = check_tiers(layout_, disk_, from, others); !fits) return fits;
    (void)fetcher_.drain();
    broken_ = fail(Code::kUnavailable, "the tables were to be restored and could not be");
    pins_.clear();
    held_ = 0;
    broken_ = restore_tiers(layout_, resident_, disk_, from, others);
    if (!broken_) return broken_;
    fetcher_.read_from(disk_.log());
    tiers_.recount(resident_, disk_);
    return broken_;
  }

 private:
  struct Missing {
    std::uint64_t number = 0;  ///< The row's number over all tables.
    std::uint32_t row = 0;     ///< Index in BatchRows.
    std::uint32_t feature = 0;
    std::int32_t slot = 0;
  };

  /// Holds the slots of rows that have one and lists the rows that are missing.
  template <class Hold>
  void find(BatchRows& rows, const Hold& hold) {
    missing_.clear();
    for (std::size_t feature = 0; feature < rows.features(); ++feature) {
      const std::uint64_t first = disk_.first_of(feature);
      const std::size_t end = rows.first_row[feature + 1];
      for (std::size_t row = rows.first_row[feature]; row < end; ++row) {
        if (row + kPrefetch < end) {
          resident_.index.prefetch(static_cast<std::int64_t>(first) + rows.keys[row + kPrefetch]);
        }
        const std::uint64_t number = first + static_cast<std::uint64_t>(rows.keys[row]);
        const std::int32_t slot = resident_.index.find(static_cast<std::int64_t>(number));
        rows.slots[row] = slot;
        if (slot == RowIndex::kNone) {
          missing_.push_back(
              {number, static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(feature), slot});
        } else {
          hold(static_cast<std::size_t>(slot));
        }
      }
    }
  }

  Status bring(BatchRows& rows, std::uint64_t room, std::uint64_t turn) {
    if (missing_.empty()) return {};
    if (missing_.size() > room || !choose_slots()) {
      return fail(Code::kOverloaded,
                  "the tables' memory holds " + std::to_string(resident_.arena.slots()) +
                      " rows, " + std::to_string(room) + " are free and batch " +
                      std::to_string(rows.batch) + " needs " + std::to_string(missing_.size()) +
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

  /// Assigns a slot to each missing row: unused slots first, then those of the rows seen least
  /// among a sample of the free ones. Returns false, without a change, if there are too few.
  bool choose_slots() {
    std::size_t next = 0;
    leaving_.clear();
    candidates_.clear();
    const std::size_t slots = resident_.arena.slots();
    const std::size_t unused = std::min(missing_.size(), slots - resident_.index.size());
    const std::size_t wanted = missing_.size() - unused;
    for (std::size_t looked = 0; looked < slots; ++looked) {
      if (next == unused && candidates_.size() >= kSample * wanted) break;
      const auto slot = static_cast<std::int32_t>(hand_);
      if (++hand_ == slots) hand_ = 0;
      if ((resident_.flags[static_cast<std::size_t>(slot)] & ResidentRows::kUsed) == 0) {
        if (next < unused) missing_[next++].slot = slot;
      } else if (wanted > 0 && is_free(static_cast<std::size_t>(slot))) {
        const std::uint64_t seen = seen_.count(resident_.index.key_of(slot));
        candidates_.push_back(seen << 32 | static_cast<std::uint32_t>(slot));
      }
    }
    if (next < unused || candidates_.size() < wanted) return false;
    std::ranges::nth_element(candidates_,
                             candidates_.begin() + static_cast<std::ptrdiff_t>(wanted));
    for (std::size_t i = 0; i < wanted; ++i) {
      const auto slot = static_cast<std::int32_t>(candidates_[i] & 0xffffffffU);
      const auto number = static_cast<std::uint64_t>(resident_.index.key_of(slot));
      const bool is_dirty =
          (resident_.flags[static_cast<std::size_t>(slot)] & ResidentRows::kDirty) != 0;
      if (is_dirty) leaving_.emplace_back(number, slot);
      tiers_.left(disk_.table_of(number), is_dirty || disk_.was_written(number));
      resident_.index.erase(slot);
      missing_[next++].slot = slot;
    }
    for (const Missing& row : missing_) {
      resident_.index.put(static_cast<std::int64_t>(row.number), row.slot);
      resident_.flags[static_cast<std::size_t>(row.slot)] = ResidentRows::kUsed;
    }
    return true;
  }

  Status write_leaving() {
    leaving_numbers_.clear();
    for (const auto& [number, slot] : leaving_) leaving_numbers_.push_back(number);
    return disk_.write(leaving_numbers_, [&](std::size_t place, std::span<std::byte> row) {
      copy_row(resident_.arena, static_cast<std::size_t>(leaving_[place].second), row);
    });
  }

  /// Fills the slots of rows that were never written to the disk and returns the other rows.
  RowFetcher::Rows make_rows(const BatchRows& rows) {
    slots_.clear();
    for (const Missing& row : missing_) slots_.push_back(row.slot);
    resident_.arena.before_refill(slots_);
    RowFetcher::Rows wanted;
    for (const Missing& row : missing_) {
      tiers_.came(row.feature, disk_.was_written(row.number));
      if (disk_.was_written(row.number)) {
        wanted.numbers.push_back(row.number);
        wanted.slots.push_back(row.slot);
        wanted.times.push_back(rows.times[row.row]);
        continue;
      }
      const auto slot = static_cast<std::size_t>(row.slot);
      disk_.fill_first(row.feature, row.number, {resident_.arena.weights(slot), layout_.width});
      std::fill_n(resident_.arena.state(slot), layout_.state_width, 0.0f);
    }
    return wanted;
  }

  bool is_free(std::size_t slot) const {
    return !pins_.is_pinned(slot) && (resident_.flags[slot] & ResidentRows::kHeld) == 0;
  }

  void count(const BatchRows& rows) {
    tiers_.looked_up(rows);
    for (const Missing& row : missing_) {
      tiers_.missed(row.feature, static_cast<std::uint64_t>(rows.times[row.row]));
    }
    for (std::size_t row = 0; row < rows.num_rows(); ++row) {
      seen_.add(resident_.index.key_of(rows.slots[row]), 1);
    }
    counted_ += rows.num_rows();
    if (counted_ < kFade * resident_.arena.slots()) return;
    seen_.halve();
    counted_ = 0;
  }

  const TableLayout layout_;
  const TrainerSpec::Tables spec_;
  ResidentRows resident_;
  DiskRows disk_;
  SlotPins pins_;
  FrequencySketch seen_;
  TierCounts tiers_;
  std::uint64_t counted_ = 0;  ///< Additions since counts were halved.
  std::size_t hand_ = 0;       ///< Where the search for slots continues.
  std::size_t held_ = 0;
  std::size_t most_rows_ = 0;  ///< Of a batch so far: kept free for a batch out of turn.
  Status broken_;
  RowFetcher fetcher_;

  // Temporaries of one call, kept to reuse their memory.
  std::vector<Missing> missing_;
  std::vector<std::uint64_t> candidates_;
  std::vector<std::pair<std::uint64_t, std::int32_t>> leaving_;
  std::vector<std::uint64_t> leaving_numbers_;
  std::vector<std::int32_t> slots_;
};

}  // namespace

// A snapshot keeps a copy of the index while it is read; a whole snapshot also has a log of its own
// and, for it, a list of the slots' keys.
std::uint64_t tiered_bytes(const TableLayout& layout, std::uint64_t slots, Snapshot snapshot) {
  const std::uint64_t rows = DiskRows::rows_of(layout);
  const std::uint64_t row = layout.row_bytes();
  const std::uint64_t on_disk = DiskRows::memory_bytes(layout);
  const std::uint64_t linked = slots * sizeof(std::int64_t) + rows / 8;
  const bool whole = snapshot == Snapshot::kWhole;
  const std::uint64_t kept = whole ? linked + on_disk + slots * sizeof(std::int64_t) : linked;
  return on_disk + kept + FrequencySketch::bytes(2 * slots) + RowIndex::bytes(slots) +
         SlotPins::bytes(slots) + slots * (row + 1) + slots * row / kScratchShare;
}

std::uint64_t tiered_slots(const TableLayout& layout, std::uint64_t memory_bytes,
                           Snapshot snapshot) {
  std::uint64_t low = 0;
  std::uint64_t high = std::min<std::uint64_t>(DiskRows::rows_of(layout), INT32_MAX - 1);
  while (low < high) {
    const std::uint64_t middle = low + (high - low + 1) / 2;
    if (tiered_bytes(layout, middle, snapshot) <= memory_bytes) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

Result<std::unique_ptr<TableStorage>> make_tiered_tables(const TableLayout& layout,
                                                         const TrainerSpec::Tables& spec,
                                                         CopyRoom& room) {
  const std::uint64_t slots = tiered_slots(layout, spec.memory_bytes, spec.snapshot);
  if (slots == 0) {
    return fail(Code::kOverloaded,
                "trainer.tables.memory = " + std::to_string(spec.memory_bytes >> 20) +
                    " MiB holds none of the tables' rows: finding them takes " +
                    std::to_string((tiered_bytes(layout, 1, spec.snapshot) >> 20) + 1) + " MiB");
  }
  auto tables = std::make_unique<TieredTables>(layout, spec, slots, room);
  if (auto opened = tables->open(); !opened) return pass(opened);
  return tables;
}

}  // namespace forebay
