#pragma once

#include <cstddef>
#include <string>

#include "core/base/descriptor.h"

namespace forebay {

/// What direct reads and writes start and end at, in memory and in files.
constexpr std::size_t kDirectPage = 4096;

constexpr std::size_t whole_pages(std::size_t bytes) {
  return (bytes + kDirectPage - 1) / kDirectPage * kDirectPage;
}

/// Opens a file for reads and writes past the page cache; where its file system has none (tmpfs
/// before Linux 6.6), for ordinary ones. An empty descriptor, and errno, when it cannot be opened.
Descriptor open_direct(const std::string& path, int flags);

}  // namespace forebay
