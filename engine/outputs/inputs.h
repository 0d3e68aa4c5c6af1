#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "engine/outputs/place.h"

namespace forebay {

/// A file that a command reads.
struct InputEntry {
  FileIdentity file;
  std::string role;  ///< "dataset.paths", "the job file".
  std::string path;  ///< Absolute.

  bool operator==(const InputEntry&) const = default;
};

/// The files that a command reads and that no output may replace or change.
///
/// A value. Files are identified by device and inode, so all links to a file are covered.
struct Inputs {
  std::vector<InputEntry> files = {};
  std::vector<std::string> folders = {};      ///< Nothing may be written into them. Absolute.
  std::vector<std::string> checkpoints = {};  ///< Directories of a CheckpointStore. Absolute.

  /// Adds the regular file at `path`; does nothing if there is none.
  void add_file(const std::string& role, const std::string& path);
  /// Adds the regular files in `folder` and in the folders below it, up to a fixed number.
  void add_files_below(const std::string& role, const std::string& folder);
  /// Adds the folder and the files in it.
  void add_folder(const std::string& role, const std::string& folder);

  bool operator==(const Inputs&) const = default;
};

/// Returns `inputs` with the files of every checkpoint that is in `inputs.checkpoints` now.
Inputs with_checkpoint_files(Inputs inputs);

/// Serializes for other processes: records that end in a zero byte.
std::string to_bytes(const Inputs& inputs);

/// Most bytes that are read of another process' inputs: enough for about 400,000 files.
inline constexpr std::size_t kMostInputBytes = std::size_t{64} << 20;

/// Reads the output of to_bytes(); kCorrupt: a record has another format. An unfinished last record
/// is ignored.
Result<Inputs> parse_inputs(std::string_view bytes);

}  // namespace forebay
