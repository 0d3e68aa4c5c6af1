#pragma once

#include <cstddef>
#include <string>

#include "core/base/descriptor.h"

namespace forebay {

/// The alignment of direct reads and writes, in memory and in files.
constexpr std::size_t kDirectPage = 4096;

constexpr std::size_t whole_pages(std::size_t bytes) {
  return (bytes + kDirectPage - 1) / kDirectPage * kDirectPage;
}

/// Opens a file for reads and writes that bypass the page cache, or for ordinary ones on a file
/// system without direct I/O (tmpfs before Linux 6.6). On failure returns an empty descriptor and
/// sets errno.
Descriptor open_direct(const std::string& path, int flags);

}  // namespace forebay
