#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "trainer/embedding/batch_rows.h"
#include "trainer/embedding/tiered/disk_rows.h"
#include "trainer/embedding/tiered/tiered_state.h"
#include "trainer/table_tiers.h"

namespace forebay {

/// Counts, by table, the rows in each tier and the lookups that found theirs in memory. Belongs to
/// one thread at a time.
class TierCounts {
 public:
  explicit TierCounts(std::vector<TableTiers> empty) : tables_(std::move(empty)) {}

  /// A row was given a slot; `was_written`: it comes from the disk.
  void came(std::size_t table, bool was_written) {
    ++tables_[table].in_memory;
    if (was_written) --tables_[table].on_disk;
  }
  /// A row lost its slot; `is_written`: the disk has it, or will.
  void left(std::size_t table, bool is_written) {
    --tables_[table].in_memory;
    if (is_written) ++tables_[table].on_disk;
  }
  /// A batch is trained on.
  void looked_up(const BatchRows& rows);
  /// So many of its lookups did not find their row in memory.
  void missed(std::size_t table, std::uint64_t lookups) { tables_[table].found -= lookups; }

  /// Counts the rows of both tiers anew, which were replaced.
  void recount(const ResidentRows& resident, const DiskRows& disk);

  const std::vector<TableTiers>& tables() const { return tables_; }

 private:
  std::vector<TableTiers> tables_;
};

}  // namespace forebay
