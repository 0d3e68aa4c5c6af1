#pragma once

#include <utility>
#include <vector>

#include "trainer/embedding/slot_metadata.h"
#include "trainer/embedding/table_storage.h"
#include "trainer/embedding/tiered/disk_rows.h"
#include "trainer/embedding/tiered/tiered_state.h"
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

  /// Number of rows that fit `memory_bytes`; 0: not even the index fits.
  static std::uint64_t slots_in(const TableLayout& layout, std::uint64_t memory_bytes,
                                Snapshot snapshot = Snapshot::kLinked);

  /// Uses `spec.memory_bytes` for everything: rows, their index, the log; empties `spec.folder`.
  static Result<std::unique_ptr<TieredTables>> make(const TableLayout& layout,
                                                    const TrainerSpec::Tables& spec,
                                                    CopyRoom& room);

  std::vector<std::int64_t> folds() const override { return layout_.rows; }
  RowArena& arena(std::size_t) override { return resident_.arena; }
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

 private:
  struct Missing {
    std::uint64_t number = 0;  ///< The row's number over all tables.
    std::uint32_t row = 0;     ///< Index in BatchRows.
    std::uint32_t feature = 0;
    std::int32_t slot = 0;
  };

  TieredTables(const TableLayout& layout, const TrainerSpec::Tables& spec, std::uint64_t slots,
               CopyRoom& room);

  /// Holds the slots of rows that have one and lists the rows that are missing.
  template <class Hold>
  void find(BatchRows& rows, const Hold& hold);
  Status bring(BatchRows& rows, std::uint64_t room, std::uint64_t turn);
  bool choose_slots();
  void evict(std::int32_t slot);
  Status write_leaving();
  RowFetcher::Rows make_rows(const BatchRows& rows);
  bool is_free(std::size_t slot) const {
    return !pins_.is_pinned(slot) && (resident_.flags[slot] & ResidentRows::kHeld) == 0;
  }
  void count(const BatchRows& rows);

  const TableLayout layout_;
  const TrainerSpec::Tables spec_;
  ResidentRows resident_;
  DiskRows disk_;
  SlotPins pins_;
  FrequencySketch seen_;
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

}  // namespace forebay
