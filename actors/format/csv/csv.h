#pragma once

#include <memory>
#include <span>

#include "actors/format/format.h"

namespace forebay {

/// Opens comma-separated values (RFC 4180); columns are found by the header of the dataset's first
/// file. See OpenTextFormat.
Result<std::unique_ptr<TextFormat>> open_csv(const DatasetSpec& dataset, const ColumnSpec& columns,
                                             std::span<const char> head);

}  // namespace forebay
