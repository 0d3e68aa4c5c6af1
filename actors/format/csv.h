#pragma once

#include <memory>
#include <span>

#include "actors/format/format.h"

namespace forebay {

/// Comma-separated values by RFC 4180, columns found by the header of the dataset's first file.
/// Errors as `open_format` says.
Result<std::unique_ptr<Format>> open_csv(const DatasetSpec& dataset, const ColumnSpec& columns,
                                         std::span<const char> head);

}  // namespace forebay
