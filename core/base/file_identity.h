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

/// Of the regular file that `path` leads to, through links. Nothing for devices, pipes and folders,
/// and where there is no file.
std::optional<FileIdentity> regular_file_at(const std::string& path);

/// Of the file that is open as `descriptor`; nothing where the system does not say.
std::optional<FileIdentity> identity_of(int descriptor);

}  // namespace forebay
