#pragma once

#include <cstdint>
#include <string>

#include "core/base/clock.h"
#include "core/base/result.h"

namespace forebay {

/// Returns the pages of 4 KiB that this process has read from the disk so far.
std::uint64_t disk_pages_read();

/// Returns the pages a second that the disk delivers to a program that only reads: for two seconds,
/// at random from all files in `folder`, past the page cache, with as many reads in flight as
/// tiered tables use.
Result<double> random_pages_per_second(const std::string& folder, const Clock& clock);

}  // namespace forebay
