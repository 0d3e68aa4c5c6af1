#pragma once

#include <memory>

#include "actors/format/format.h"
#include "core/base/cpu_level.h"

namespace forebay {

/// Opens the layout of the Criteo click logs: label, I1 … I13, C1 … C26, tab-separated, no header.
/// Empty `columns` means all columns. This processor must support `level`; the decoded values do
/// not depend on it.
Result<std::unique_ptr<TextFormat>> open_criteo_tsv(const DatasetSpec& dataset,
                                                    const ColumnSpec& columns,
                                                    CpuLevel level = best_cpu_level());

}  // namespace forebay
