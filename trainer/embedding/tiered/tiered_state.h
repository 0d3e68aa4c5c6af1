#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "trainer/embedding/slot_metadata.h"
#include "trainer/embedding/table_storage.h"
#include "trainer/embedding/tiered/disk_rows.h"
#include "trainer/state/snapshot.h"

namespace forebay {

/// The names of the tensors of tiered tables' linked snapshot.
inline constexpr const char* kTierRows = "tables.rows";
inline constexpr const char* kTierKeys = "tables.keys";
inline constexpr const char* kTierWritten = "tables.written";

/// The rows of tiered tables that are in memory.
struct ResidentRows {
  enum Flag : std::uint8_t { kUsed = 1, kDirty = 2, kHeld = 4 };

  ResidentRows(std::size_t slots, const TableLayout& layout, CopyRoom& room);

  void clear();

  RowArena arena;
  RowIndex index;                   ///< By number over all tables.
  std::vector<std::uint8_t> flags;  ///< Per slot.
};

/// Copies a row's weights, then its state.
void copy_row(const RowArena& arena, std::size_t slot, std::span<std::byte> to);

/// Takes a linked snapshot: the rows in memory, and links in `folder` to the files of those on the
/// disk, which live as long as the snapshot.
Result<std::unique_ptr<StateSource>> snapshot_of_tiers(const ResidentRows& rows, DiskRows& disk,
                                                       const std::string& folder,
                                                       std::vector<MemoryTensor> others);

/// Whether the tables of a state are tiered: rows in slots, and files.
bool lies_in_tiers(const StateSource& state);

/// Restores tiered tables, and the tensors beside them, from a linked snapshot or from whole
/// tables. All arguments outlive it.
class TieredRestore {
 public:
  TieredRestore(const TableLayout& layout, ResidentRows& rows, DiskRows& disk, StateSource& from,
                const std::vector<MemoryTensor>& others);

  /// Returns an error for a state of another shape.
  Status check() const;
  /// Replaces all rows. After an error the tables are lost.
  Status run();

 private:
  std::vector<StateTensor> whole_tensors() const;
  Result<bool> read_other(std::size_t index);
  Status restore_whole();
  Status read_whole(std::size_t index, std::size_t table);
  Status write_changed(std::size_t table, std::uint64_t first, std::span<const float> values,
                       StateTensor::Part part);
  Status restore_linked();
  Status read_into_arena(std::size_t first, std::size_t count);
  Status place_rows(std::size_t first, std::size_t count);
  Status write(std::size_t first, std::span<const std::int64_t> keys);
  Status keep(std::size_t first, std::span<const std::int64_t> keys);

  const TableLayout& layout_;
  ResidentRows& rows_;
  DiskRows& disk_;
  StateSource& from_;
  const std::vector<MemoryTensor>& others_;
  const bool linked_;
  std::size_t slots_ = 0;  ///< Of a linked snapshot.
};

}  // namespace forebay
