#include "trainer/embedding/make_tables.h"

#include <algorithm>

#include "trainer/device_memory.h"
#include "trainer/embedding/hashed_tables.h"
#include "trainer/embedding/memory_tables.h"
#include "trainer/embedding/tiered/tiered_tables.h"

namespace forebay {

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

Result<std::unique_ptr<TableStorage>> make_tables(const TrainerSpec& spec, const ModelShape& shape,
                                                  CopyRoom& room) {
  if (spec.tables.storage == TrainerSpec::Storage::kHashed) {
    return std::make_unique<HashedTables>(layout_of(spec, shape), spec.tables, room);
  }
  // A model without sparse features has no tables to put into tiers.
  if (spec.tables.storage == TrainerSpec::Storage::kTiered && !shape.table_rows.empty()) {
    return TieredTables::make(layout_of(spec, shape), spec.tables, room);
  }
  return std::make_unique<MemoryTables>(layout_of(spec, shape), room,
                                        spec.tables.folder + ".whole");
}

namespace {

Status check_device_rows(const TrainerSpec& spec, const ModelShape& shape,
                         std::uint64_t ids_per_batch) {
  if (spec.device == "cpu" || spec.tables.device_memory_bytes == 0) return {};
  const TableLayout layout = layout_of(spec, shape);
  const std::uint64_t wanted = std::min(2 * ids_per_batch, shape.all_table_rows());
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

Status check_tables(const TrainerSpec& spec, const ModelShape& shape, std::uint64_t ids_per_batch) {
  if (!learns(spec.model)) return {};
  if (auto device = check_device_rows(spec, shape, ids_per_batch); !device) return device;
  if (spec.tables.storage != TrainerSpec::Storage::kTiered) return {};
  const TableLayout layout = layout_of(spec, shape);
  const std::uint64_t all = shape.all_table_rows();
  const std::uint64_t wanted = std::min(2 * ids_per_batch, all);
  const std::uint64_t slots =
      TieredTables::slots_in(layout, spec.tables.memory_bytes, spec.tables.snapshot);
  if (slots >= wanted) return {};
  constexpr std::uint64_t kMost = std::uint64_t{1} << 50;
  std::uint64_t low = spec.tables.memory_bytes;
  std::uint64_t high = kMost;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (TieredTables::slots_in(layout, middle, spec.tables.snapshot) >= wanted) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return fail(Code::kOverloaded,
              "trainer.tables.memory = " + std::to_string(spec.tables.memory_bytes >> 20) +
                  " MiB holds " + std::to_string(slots) + " of the tables' " + std::to_string(all) +
                  " rows, and two batches may name " + std::to_string(wanted) +
                  "; set it to at least " + std::to_string((low >> 20) + 1) +
                  " MiB, or lower order.batch_size");
}

}  // namespace forebay
