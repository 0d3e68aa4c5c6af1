#pragma once

#include <cstdint>
#include <string>

#include "tools/doctor/finding.h"

namespace forebay {

/// Whether files can be written under `path`, which need not exist yet, and how many bytes its disk
/// has left. `key` is the setting that names it.
Finding check_writable_path(const std::string& name, const std::string& key,
                            const std::string& path);

/// Bytes left to this user on the disk that `path`, or the nearest folder above it, lies on.
std::uint64_t free_bytes(const std::string& path);

/// Whether as many files as `wanted` may be open at once.
Finding check_open_files(std::uint64_t wanted);

}  // namespace forebay
