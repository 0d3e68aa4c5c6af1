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

  ResidentRows(std::size_t slots, const TableLayout& layout, CopyRoom& room)
      : arena(slots, layout.width, layout.state_width, room), index(slots), flags(slots) {}

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

/// Checks that tiered tables, and the tensors beside them, can be restored from a linked snapshot
/// or from whole tables; fails for a state of another shape.
Status check_tiers(const TableLayout& layout, const DiskRows& disk, const StateSource& from,
                   const std::vector<MemoryTensor>& others);

/// Replaces all rows by those of a state that was checked. After an error the tables are lost.
Status restore_tiers(const TableLayout& layout, ResidentRows& rows, DiskRows& disk,
                     StateSource& from, const std::vector<MemoryTensor>& others);

/// Presents a state with tiered tables as one with tables in memory, row after row. The result does
/// not depend on the memory size, so it can be merged with the parts of other ranks, and a run that
/// resumes from it may use another storage. `layout` is that of the tables in `tiers`; `folder` is
/// emptied now, and removed by the destructor.
///
/// Its own thread moves the rows into that folder at once, so that training is not blocked however
/// late they are read; a read waits for that. State beside the tables is kept in memory. Any number
/// of threads may read, each any bytes in any order.
std::unique_ptr<StateSource> whole_tables(TableLayout layout, std::shared_ptr<StateSource> tiers,
                                          const std::string& folder);

}  // namespace forebay
