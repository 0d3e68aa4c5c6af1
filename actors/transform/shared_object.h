#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "core/base/result.h"

namespace forebay {

/// Reads the bytes from `offset` on into all of `to`; returns false if the file has fewer bytes.
using ReadAt = std::function<bool(std::uint64_t offset, std::span<std::byte> to)>;

/// Checks that a shared library's file of `size` bytes contains all that its headers describe. The
/// dynamic loader maps the described segments without this check, and the process is killed
/// (SIGBUS) if the file ends before them. Does a bounded number of reads, of at most about 300 KiB
/// in all. kInvalid names the missing part; other faults are left to the loader. Source of the
/// layout: the ELF-64 object file format, System V ABI.
Status check_shared_object(std::uint64_t size, const ReadAt& read);

/// Checks the file at `path`. Also returns kInvalid if it is not a regular file or cannot be read.
Status check_shared_object(const std::string& path);

}  // namespace forebay
