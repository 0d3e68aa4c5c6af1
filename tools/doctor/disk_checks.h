#pragma once

#include <cstdint>
#include <string>

#include "tools/doctor/finding.h"

namespace forebay {

/// Checks whether files can be written under `path`, which need not exist yet, and how many bytes
/// are free on its disk. `key` is the setting that gives the path.
Finding check_writable_path(const std::string& name, const std::string& key,
                            const std::string& path);

/// Returns the bytes available to this user on the disk of `path`, or of its nearest existing
/// parent folder.
std::uint64_t free_bytes(const std::string& path);

/// Checks whether `wanted` files may be open at once.
Finding check_open_files(std::uint64_t wanted);

}  // namespace forebay
