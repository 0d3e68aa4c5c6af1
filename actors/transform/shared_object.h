#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "core/base/result.h"

namespace forebay {

/// Reads the bytes from `offset` on into all of `to`; false where the file has fewer.
using ReadAt = std::function<bool(std::uint64_t offset, std::span<std::byte> to)>;

/// Whether a shared library's file of `size` bytes has all that its headers promise: the loader
/// maps what they say and is killed (SIGBUS) where the file ends before. Takes a bounded number of
/// reads, of at most some 300 KiB in all. kInvalid says what is missing; other faults are the
/// loader's to find. Source of the layout: the ELF-64 object file format, System V ABI.
Status check_shared_object(std::uint64_t size, const ReadAt& read);

/// The same for a file. kInvalid, too, where it is no regular file or cannot be read.
Status check_shared_object(const std::string& path);

}  // namespace forebay
