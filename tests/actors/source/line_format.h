#pragma once

#include <memory>
#include <string>

#include "actors/format/format.h"

namespace forebay::test {

/// A format that only knows lines: a row a line. It refuses a file whose first byte differs from
/// the dataset's first one, and rows longer than max_row_bytes.
std::unique_ptr<Format> line_format(std::uint64_t max_row_bytes = 1 << 20, char first = 0);

}  // namespace forebay::test
