#include "trainer/embedding/tiered/tier_counts.h"

#include <cstddef>
#include <numeric>

namespace forebay {

// A list that rows share is looked up once for each of them, as missed() counts it.
void TierCounts::looked_up(const BatchRows& rows) {
  const auto first = rows.times.begin();
  for (std::size_t table = 0; table < tables_.size(); ++table) {
    const std::uint64_t lookups = std::accumulate(
        first + static_cast<std::ptrdiff_t>(rows.first_row[table]),
        first + static_cast<std::ptrdiff_t>(rows.first_row[table + 1]), std::uint64_t{0});
    tables_[table].lookups += lookups;
    tables_[table].found += lookups;
  }
}

void TierCounts::recount(const ResidentRows& resident, const DiskRows& disk) {
  for (std::size_t table = 0; table < tables_.size(); ++table) {
    TableTiers& tiers = tables_[table];
    tiers.in_memory = tiers.on_disk = 0;
    const std::uint64_t first = disk.first_of(table);
    for (std::uint64_t number = first; number < first + tiers.rows; ++number) {
      if (disk.was_written(number)) ++tiers.on_disk;
    }
  }
  for (std::size_t slot = 0; slot < resident.arena.slots(); ++slot) {
    if ((resident.flags[slot] & ResidentRows::kUsed) == 0) continue;
    const auto number =
        static_cast<std::uint64_t>(resident.index.key_of(static_cast<std::int32_t>(slot)));
    came(disk.table_of(number), disk.was_written(number));
  }
}

}  // namespace forebay
