#pragma once

#include <memory>

#include "core/base/result.h"
#include "trainer/embedding/table_storage.h"
#include "trainer/spec.h"

namespace forebay {

/// Returns the layout of the tables of `spec`.
TableLayout layout_of(const TrainerSpec& spec, const ModelShape& shape);

/// Makes the storage of `spec.tables`, with its first values; `room` outlives it. Fails if a folder
/// cannot be used.
Result<std::unique_ptr<TableStorage>> make_tables(const TrainerSpec& spec, const ModelShape& shape,
                                                  CopyRoom& room);

/// Checks that tiered tables have memory for batches that name at most `ids_per_batch` different
/// rows: one batch to train on and one to score. The error states the sizes.
Status check_tables(const TrainerSpec& spec, const ModelShape& shape, std::uint64_t ids_per_batch);

}  // namespace forebay
