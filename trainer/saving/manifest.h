#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "core/base/result.h"

namespace forebay {

/// The contents of a checkpoint: manifest.json,
/// {"version": 2, "files": {"name": {"bytes": n, "digest": hex, "inode": n}, …}, "digest": hex},
/// where the last digest covers all the rest.
struct Manifest {
  static constexpr int kVersion = 2;

  struct File {
    std::uint64_t bytes = 0;
    std::string digest;  ///< RunningDigest's, in hexadecimal digits.
    /// Of a file that is also linked elsewhere and never changed there: a link with the same name,
    /// size and inode has the same digest.
    std::optional<std::uint64_t> inode = {};

    bool operator==(const File&) const = default;
  };

  /// By name, relative to the checkpoint's folder: "loader.json",
  /// "tables/00000000000000000012.rows".
  std::map<std::string, File> files;

  bool operator==(const Manifest&) const = default;
};

std::string to_json(const Manifest& manifest);

/// Returns an error that begins with `path`: kCorrupt if `text` is not a manifest or names files
/// outside of the folder, kInvalid for another version of the format.
Result<Manifest> parse_manifest(const std::string& text, const std::string& path);

}  // namespace forebay
