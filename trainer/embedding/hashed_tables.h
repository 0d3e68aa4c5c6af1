#pragma once

#include <vector>

#include "trainer/embedding/slot_metadata.h"
#include "trainer/embedding/table_storage.h"
#include "trainer/spec.h"

namespace forebay {

/// `storage = "hashed"`: an id gets a row of its own once it was seen `admit_after` times, the
/// current batch included (counted by a sketch: never later, and earlier if ids collide in it).
/// Before that, and if a table is full, ids share its first row, which is trained like any other.
///
/// A row whose id was not seen for `evict_after` steps is dropped at the next step whose number is
/// a multiple of a quarter of that; counts are halved then, so that rarely seen ids never
/// accumulate. All of this depends on the ids and steps alone. Because these slot metadata are part
/// of the tables' state, rows get their slots in the step; only the rows that a batch names are
/// found ahead of it.
class HashedTables final : public TableStorage {
 public:
  /// A table has at most `layout.rows` rows, including the shared one.
  HashedTables(const TableLayout& layout, const TrainerSpec::Tables& spec, CopyRoom& room);

  std::vector<std::int64_t> folds() const override {
    return std::vector<std::int64_t>(tables_.size(), 0);
  }
  RowArena& arena(std::size_t feature) override { return tables_[feature].arena; }
  bool looks_ahead() const override { return false; }
  Status borrow(BatchRows& rows, Use use) override;

  /// Number of a table's rows that belong to a single id.
  std::size_t own_rows(std::size_t feature) const { return tables_[feature].index.size(); }

 private:
  static constexpr std::int32_t kShared = 0;

  struct Table {
    RowArena arena;
    RowIndex index;
    FrequencySketch counts;
    RowValues values;
    std::vector<std::int64_t> keys;   ///< By slot, of those in use.
    std::vector<std::uint64_t> seen;  ///< By slot: the last step that saw it; 0: not in use.
    std::vector<std::int32_t> free;   ///< Slots, highest first.
  };

  std::int32_t slot_of(Table& table, std::int64_t key, std::int32_t times, Use use);
  void admit(Table& table, std::int64_t key, std::int32_t slot);
  void drop_unseen();
  void share(BatchRows& rows);
  void append_state(std::vector<MemoryTensor>& tensors) override;
  void restored() override;

  const TableLayout layout_;
  const TrainerSpec::Tables spec_;
  std::vector<Table> tables_;
  std::uint64_t steps_ = 0;

  // Temporaries of one call, kept to reuse their memory.
  std::vector<std::int32_t> new_place_;
  BatchRows shared_;
};

}  // namespace forebay
