#pragma once

#include <deque>
#include <string>
#include <vector>

#include "core/store/rows/row_log.h"
#include "trainer/embedding/frequency_sketch.h"
#include "trainer/embedding/row_fetcher.h"
#include "trainer/embedding/row_index.h"
#include "trainer/embedding/row_values.h"
#include "trainer/embedding/table_storage.h"
#include "trainer/spec.h"

namespace forebay {

/// `storage = "tiered"`: rows that batches need, and those seen most often, are in one arena for
/// all tables; the rest is on the disk.
///
/// A row is given a slot when a batch needs it: it is read from the disk if it was ever written
/// there, otherwise made with its first values. Evicts the row seen least often among a sample of
/// the rows that are not held by a batch. A trained row is appended to the log when it is evicted,
/// before any row is read for a later batch, so a read never returns stale values. Rows are read
/// while the next batch is prepared.
class TieredTables final : public TableStorage {
 public:
  using Snapshot = TrainerSpec::Tables::Snapshot;
  struct Options {
    std::uint64_t memory_bytes = 0;  ///< For everything: rows, their index, the log.
    std::string folder;              ///< Emptied at the start.
    Snapshot snapshot = Snapshot::kLinked;
  };

  /// The names of the tensors of a linked snapshot.
  static constexpr const char* kRowsTensor = "tables.rows";
  static constexpr const char* kKeysTensor = "tables.keys";
  static constexpr const char* kWrittenTensor = "tables.written";

  /// Number of rows that fit `memory_bytes`; 0: not even the index fits.
  static std::uint64_t slots_in(const TableLayout& layout, std::uint64_t memory_bytes,
                                Snapshot snapshot = Snapshot::kLinked);

  static Result<std::unique_ptr<TieredTables>> make(const TableLayout& layout,
                                                    const Options& options, CopyRoom& room);

  std::vector<std::int64_t> folds() const override { return layout_.rows; }
  RowArena& arena(std::size_t) override { return arena_; }
  bool looks_ahead() const override { return true; }
  Status prepare(BatchRows& rows, std::uint64_t turn) override;
  Status await(std::uint64_t turn) override { return fetcher_.await(turn); }
  std::uint64_t awaited(std::uint64_t turn) const override { return fetcher_.awaited(turn); }
  void finish(std::uint64_t turn) override;
  Status borrow(BatchRows& rows, Use use) override;
  void give_back(const BatchRows& rows) override;
  Result<std::unique_ptr<StateSource>> snapshot(std::vector<MemoryTensor> others) override;
  /// Restores a linked snapshot, or whole tables.
  Status restore(StateSource& from, std::vector<MemoryTensor> others) override;

  /// Options of the row log on the disk.
  static RowLog::Options disk_options(const TableLayout& layout);

  /// Counts so far.
  struct Traffic {
    std::uint64_t read = 0;     ///< Rows read from the disk.
    std::uint64_t written = 0;  ///< Rows written to the disk.
    std::uint64_t made = 0;     ///< Rows made with their first values.
  };
  const Traffic& traffic() const { return traffic_; }

 private:
  struct Missing {
    std::uint64_t number = 0;  ///< The row's number over all tables.
    std::uint32_t row = 0;     ///< Index in BatchRows.
    std::uint32_t feature = 0;
    std::int32_t slot = 0;
  };
  enum Flag : std::uint8_t { kUsed = 1, kDirty = 2, kHeld = 4 };

  TieredTables(const TableLayout& layout, const Options& options, std::uint64_t slots,
               CopyRoom& room);

  /// Holds the slots of rows that have one and lists the rows that are missing.
  template <class Hold>
  void find(BatchRows& rows, const Hold& hold);
  /// Opens the disk anew, with the rows linked in `from`; empty: no rows. Requires that no fetch is
  /// in progress.
  Status open_disk(const std::string& from);
  Status bring(BatchRows& rows, std::uint64_t room, std::uint64_t turn);
  bool choose_slots();
  void evict(std::int32_t slot);
  Status write_leaving();
  RowFetcher::Rows make_rows(const BatchRows& rows);
  void pin(std::int32_t slot, std::uint64_t turn);
  bool is_free(std::int32_t slot) const;
  void count(const BatchRows& rows);
  bool was_written(std::uint64_t number) const {
    return (written_[number / 8] >> (number % 8) & 1) != 0;
  }
  Result<std::unique_ptr<StateSource>> linked_snapshot(std::vector<MemoryTensor> others);
  Status restore_linked(StateSource& from, const std::vector<MemoryTensor>& others);
  Status restore_whole(StateSource& from, const std::vector<MemoryTensor>& others);
  Status read_whole(StateSource& from, std::size_t index, std::size_t table);
  Status write_whole(std::size_t table, std::uint64_t first, std::span<const float> values,
                     StateTensor::Part part);
  void hold_nothing();
  Status restore_disk(StateSource& from);
  Status restore_rows(StateSource& from, std::size_t slots);
  Status read_into_arena(StateSource& from, std::size_t first, std::size_t count);
  Status place_rows(StateSource& from, std::size_t first, std::size_t count);
  Status has_row(std::int64_t key) const;
  Status write_restored(std::size_t first, std::span<const std::int64_t> keys);
  Status keep_restored(std::size_t first, std::span<const std::int64_t> keys);

  const TableLayout layout_;
  const Options options_;
  const std::uint64_t all_rows_;
  std::vector<std::uint64_t> first_number_;  ///< Per feature.
  std::vector<RowValues> values_;            ///< Per feature.
  RowArena arena_;
  RowIndex index_;
  std::vector<std::uint32_t> last_turn_;  ///< Per slot: the latest turn that holds it.
  std::vector<std::uint8_t> flags_;       ///< Per slot.
  std::vector<std::uint8_t> written_;     ///< A bit a row: on the disk.
  FrequencySketch seen_;
  std::uint64_t counted_ = 0;  ///< Additions since counts were halved.
  std::size_t hand_ = 0;       ///< Where the search for slots continues.
  std::uint64_t finished_ = 0;
  std::deque<std::size_t> pins_;  ///< Slots by the latest turn that holds them, from finished_ + 1.
  std::size_t pinned_ = 0;
  std::size_t held_ = 0;
  std::size_t most_rows_ = 0;  ///< Of a batch so far: kept free for a batch out of turn.
  Traffic traffic_;
  Status broken_;
  std::unique_ptr<RowLog> disk_;
  RowFetcher fetcher_;

  // Temporaries of one call, kept to reuse their memory.
  std::vector<Missing> missing_;
  std::vector<std::uint64_t> candidates_;
  std::vector<std::pair<std::uint64_t, std::int32_t>> leaving_;
  std::vector<std::uint64_t> leaving_numbers_;
  std::vector<std::int32_t> slots_;
};

}  // namespace forebay
