#pragma once

#include <string>
#include <vector>

#include "trainer/embedding/table_storage.h"

namespace forebay {

/// `storage = "memory"`: every row of every table is in memory; a slot is a row.
class MemoryTables final : public TableStorage {
 public:
  /// Fills the tables with their first values. `folder` is made and removed when tables are
  /// restored from a tiered state.
  MemoryTables(const TableLayout& layout, CopyRoom& room, std::string folder = "");

  std::vector<std::int64_t> folds() const override { return layout_.rows; }
  RowArena& arena(std::size_t feature) override { return arenas_[feature]; }
  bool looks_ahead() const override { return true; }
  Status borrow(BatchRows& rows, Use use) override;
  Status restore(StateSource& from, std::vector<MemoryTensor> others) override;

 private:
  /// Tensors [rows, width], named by TableLayout::name_of.
  void append_state(std::vector<MemoryTensor>& tensors) override;

  const TableLayout layout_;
  const std::string folder_;
  std::vector<RowArena> arenas_;
};

}  // namespace forebay
