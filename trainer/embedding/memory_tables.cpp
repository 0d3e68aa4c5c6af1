#include "trainer/embedding/memory_tables.h"

#include <algorithm>
#include <utility>

#include "trainer/embedding/tiered/tiered_state.h"
#include "trainer/embedding/tiered/whole_tables.h"

namespace forebay {

MemoryTables::MemoryTables(const TableLayout& layout, CopyRoom& room, std::string folder)
    : layout_(layout), folder_(std::move(folder)) {
  arenas_.reserve(layout.rows.size());
  for (std::size_t feature = 0; feature < layout.rows.size(); ++feature) {
    const auto slots = static_cast<std::size_t>(layout.rows[feature]);
    const RowArena& arena = arenas_.emplace_back(slots, layout.width, layout.state_width, room);
    const RowValues values = layout.values_of(feature);
    for (std::size_t row = 0; row < slots; ++row) {
      values.fill(layout.first_of(feature) + static_cast<std::int64_t>(row),
                  {arena.weights(row), layout.width});
    }
  }
}

Status MemoryTables::borrow(BatchRows& rows, Use) {
  std::ranges::transform(rows.keys, rows.slots.begin(),
                         [](std::int64_t key) { return static_cast<std::int32_t>(key); });
  return {};
}

Status MemoryTables::restore(StateSource& from, std::vector<MemoryTensor> others) {
  if (!lies_in_tiers(from)) return TableStorage::restore(from, std::move(others));
  const std::shared_ptr<void> nobody;
  WholeTables whole(layout_, std::shared_ptr<StateSource>(nobody, &from), folder_);
  return TableStorage::restore(whole, std::move(others));
}

void MemoryTables::append_state(std::vector<MemoryTensor>& tensors) {
  for (std::size_t feature = 0; feature < arenas_.size(); ++feature) {
    append_arena(arenas_[feature], layout_.name_of(feature), tensors);
  }
}

}  // namespace forebay
