#pragma once

#include <memory>

#include "actors/format/column_choice.h"
#include "actors/format/format.h"

namespace forebay {

/// The layout of the Criteo click logs: label, I1 … I13, C1 … C26, tab-separated, no header.
/// `columns` may be empty, which means all of them.
Result<std::unique_ptr<Format>> open_criteo_tsv(const DatasetSpec& dataset,
                                                const ColumnSpec& columns);

}  // namespace forebay
