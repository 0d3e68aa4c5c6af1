#pragma once

#include <memory>

#include "core/base/result.h"
#include "trainer/embedding/table_storage.h"
#include "trainer/spec.h"

namespace forebay {

/// The layout of the tables that `spec` asks for.
TableLayout layout_of(const TrainerSpec& spec, const ModelShape& shape);

/// The storage that `spec.tables` asks for, with its first values; `room` outlives it. Fails where
/// a folder cannot be used.
Result<std::unique_ptr<TableStorage>> make_tables(const TrainerSpec& spec, const ModelShape& shape,
                                                  CopyRoom& room);

/// Whether tables in tiers have the memory for batches that name `ids_per_batch` different rows at
/// most: one to train on and one to score. Refused with the sizes.
Status check_tables(const TrainerSpec& spec, const ModelShape& shape, std::uint64_t ids_per_batch);

}  // namespace forebay
