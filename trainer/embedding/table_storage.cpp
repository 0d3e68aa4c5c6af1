#include "trainer/embedding/table_storage.h"

#include <algorithm>

#include "trainer/device_memory.h"
#include "trainer/embedding/tiered/tiered_state.h"

namespace forebay {
namespace {

class MemoryTables final : public TableStorage {
 public:
  MemoryTables(const TableLayout& layout, CopyRoom& room, std::string folder)
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

  std::vector<std::int64_t> folds() const override { return layout_.rows; }
  RowArena& arena(std::size_t feature) override { return arenas_[feature]; }
  bool looks_ahead() const override { return true; }

  Status borrow(BatchRows& rows, Use) override {
    std::ranges::transform(rows.keys, rows.slots.begin(),
                           [](std::int64_t key) { return static_cast<std::int32_t>(key); });
    return {};
  }

  std::vector<TableTiers> tiers() const override {
    std::vector<TableTiers> tables = empty_tiers(layout_);
    for (TableTiers& table : tables) table.in_memory = table.rows;
    return tables;
  }

  Status restore(StateSource& from, std::vector<MemoryTensor> others) override {
    if (!lies_in_tiers(from)) return TableStorage::restore(from, std::move(others));
    const std::shared_ptr<void> nobody;
    const auto whole = whole_tables(layout_, std::shared_ptr<StateSource>(nobody, &from), folder_);
    return TableStorage::restore(*whole, std::move(others));
  }

  /// Tensors [rows, width], named by TableLayout::name_of.
  void append_to(std::vector<MemoryTensor>& tensors) override {
    for (std::size_t feature = 0; feature < arenas_.size(); ++feature) {
      append_arena(arenas_[feature], layout_.name_of(feature), tensors);
    }
  }

 private:
  const TableLayout layout_;
  const std::string folder_;
  std::vector<RowArena> arenas_;
};

Status check_device_rows(const TrainerSpec& spec, const ModelShape& shape, const MostIds& ids) {
  if (spec.device == "cpu" || spec.tables.device_memory_bytes == 0) return {};
  const TableLayout layout = layout_of(spec, shape);
  const std::uint64_t wanted = touched_rows(shape, ids, 2);
  const std::uint64_t rows = device_rows(spec, shape);
  if (rows >= wanted) return {};
  return fail(
      Code::kOverloaded,
      "trainer.tables.device_memory = " + std::to_string(spec.tables.device_memory_bytes >> 20) +
          " MiB holds " + std::to_string(rows) + " rows of the tables, and two batches may name " +
          std::to_string(wanted) + "; set it to at least " +
          std::to_string((wanted * layout.row_bytes() >> 20) + 1) +
          " MiB, or lower order.batch_size");
}

}  // namespace

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

Status TableStorage::restore(StateSource& from, std::vector<MemoryTensor> others) {
  append_to(others);
  if (auto status = restore_memory(from, others); !status) return status;
  restored();
  return {};
}

std::vector<TableTiers> empty_tiers(const TableLayout& layout) {
  std::vector<TableTiers> tables(layout.rows.size());
  for (std::size_t table = 0; table < tables.size(); ++table) {
    tables[table].feature = layout.feature_of(table);
    tables[table].rows = static_cast<std::uint64_t>(layout.rows[table]);
    tables[table].row_bytes = layout.row_bytes();
  }
  return tables;
}

TableLayout layout_of(const TrainerSpec& spec, const ModelShape& shape) {
  return {.rows = shape.table_rows,
          .features = shape.table_features,
          .first = shape.table_first,
          .whole = shape.table_whole,
          .width = shape.row_width(),
          .dim = static_cast<std::size_t>(shape.embedding_dim),
          .state_width = state_width(table_optimizer(spec), shape.row_width()),
          .seed = spec.seed};
}

std::unique_ptr<TableStorage> make_memory_tables(const TableLayout& layout, CopyRoom& room,
                                                 const std::string& folder) {
  return std::make_unique<MemoryTables>(layout, room, folder);
}

Result<std::unique_ptr<TableStorage>> make_tables(const TrainerSpec& spec, const ModelShape& shape,
                                                  CopyRoom& room) {
  if (spec.tables.storage == TrainerSpec::Storage::kHashed) {
    return make_hashed_tables(layout_of(spec, shape), spec.tables, room);
  }
  // A model without sparse features has no tables to put into tiers.
  if (spec.tables.storage == TrainerSpec::Storage::kTiered && !shape.table_rows.empty()) {
    return make_tiered_tables(layout_of(spec, shape), spec.tables, room);
  }
  return make_memory_tables(layout_of(spec, shape), room, spec.tables.folder + ".whole");
}

Status check_tables(const TrainerSpec& spec, const ModelShape& shape, const MostIds& ids) {
  if (!learns(spec.model)) return {};
  if (auto device = check_device_rows(spec, shape, ids); !device) return device;
  if (spec.tables.storage != TrainerSpec::Storage::kTiered) return {};
  const TableLayout layout = layout_of(spec, shape);
  const std::uint64_t all = shape.all_table_rows();
  const std::uint64_t wanted = touched_rows(shape, ids, 2);
  const std::uint64_t slots = tiered_slots(layout, spec.tables.memory_bytes, spec.tables.snapshot);
  if (slots >= wanted) return {};
  const std::uint64_t least = tiered_bytes(layout, wanted, spec.tables.snapshot);
  return fail(Code::kOverloaded,
              "trainer.tables.memory = " + std::to_string(spec.tables.memory_bytes >> 20) +
                  " MiB holds " + std::to_string(slots) + " of the tables' " + std::to_string(all) +
                  " rows, and two batches may name " + std::to_string(wanted) +
                  "; set it to at least " + std::to_string((least >> 20) + 1) +
                  " MiB, or lower order.batch_size");
}

}  // namespace forebay
