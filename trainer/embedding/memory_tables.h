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

  std::vector<std::int64_t> folds() const override { return rows_; }
  RowArena& arena(std::size_t feature) override { return arenas_[feature]; }
  bool looks_ahead() const override { return true; }
  Status prepare(BatchRows& rows, std::uint64_t turn) override;
  void finish(std::uint64_t) override {}
  Status borrow(BatchRows& rows, Use use) override;
  void give_back(const BatchRows&) override {}
  Status restore(StateSource& from, std::vector<MemoryTensor> others) override;

 private:
  /// Tensors [rows, width], named by TableLayout::name_of.
  void append_state(std::vector<MemoryTensor>& tensors) override;

  const TableLayout layout_;
  const std::string folder_;
  const std::vector<std::int64_t> rows_;
  std::vector<std::string> names_;
  std::vector<RowArena> arenas_;
};

}  // namespace forebay
