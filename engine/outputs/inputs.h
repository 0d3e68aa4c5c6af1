#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/descriptor.h"
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

/// Publishes the inputs of this process to other processes of this machine, until the object is
/// destroyed or the process ends in any way.
///
/// The list is stored in a memory file (memfd) with a fixed name, which other processes find in
/// /proc: nothing is written to a disk, and nothing has to be cleaned up. Holds one descriptor.
/// Processes of other users, of other PID namespaces or without /proc do not see each other's
/// inputs.
class PublishedInputs {
 public:
  /// Called if the system provides no memory file; then other processes do not see the inputs.
  using Say = std::function<void(const std::string&)>;
  static PublishedInputs publish(const Inputs& inputs, const Say& say);

 private:
  explicit PublishedInputs(Descriptor file) : file_(std::move(file)) {}

  Descriptor file_;
};

/// The inputs of another process.
struct RunningInputs {
  pid_t process = 0;
  Inputs inputs;
};

/// Returns the inputs that all other processes of this user on this machine publish. Takes about 10
/// µs a process.
std::vector<RunningInputs> inputs_of_other_processes();

}  // namespace forebay
