#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

namespace forebay {

/// Device and inode: the same for every name and link of a file on this machine, and different for
/// two files that exist at the same time.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;

  auto operator<=>(const FileIdentity&) const = default;
};

/// The identity of the regular file that `path` leads to, through links. Nothing for a device, a
/// pipe or a folder, and when the file does not exist.
std::optional<FileIdentity> regular_file_at(const std::string& path);

}  // namespace forebay
