#pragma once

#include <cstdint>
#include <string>

#include "core/base/clock.h"
#include "core/base/result.h"

namespace forebay {

/// Pages of 4 KiB that this process has had the disk read so far.
std::uint64_t disk_pages_read();

/// Pages a second that the disk gives to a program that does nothing else: for two seconds, at
/// random from all files in `folder`, past the page cache, as many at a time as tables in tiers
/// ask for.
Result<double> random_pages_per_second(const std::string& folder, const Clock& clock);

}  // namespace forebay
