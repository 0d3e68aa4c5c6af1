#include "trainer/embedding/table_storage.h"

#include <utility>

namespace forebay {

std::string TableLayout::name_of(std::size_t table) const {
  std::string name = "table." + std::to_string(feature_of(table));
  if (whole_of(table) != rows[table]) name += ".from." + std::to_string(first_of(table));
  return name;
}

StateTensor TableLayout::tensor_of(std::size_t table, StateTensor::Part part) const {
  const std::size_t values = part == StateTensor::Part::kWeights ? width : state_width;
  return {.name = name_of(table),
          .part = part,
          .type = ElementType::kF32,
          .shape = {rows[table], static_cast<std::int64_t>(values)}};
}

Result<std::unique_ptr<StateSource>> TableStorage::snapshot(std::vector<MemoryTensor> others) {
  append_state(others);
  return MemorySource::take(std::move(others));
}

Status TableStorage::restore(StateSource& from, std::vector<MemoryTensor> others) {
  append_state(others);
  if (auto status = restore_memory(from, others); !status) return status;
  restored();
  return {};
}

}  // namespace forebay
