#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "tools/launch/launch_spec.h"

namespace forebay {

/// Added to a file's path while it is written.
inline constexpr char kLaunchAside[] = ".part";

/// What becomes of files of an earlier launch that somebody has edited since.
enum class Edited { kRefuse, kReplace };

/// Writes `files` into `folder`, which is made when it is not there; each appears whole and with
/// its mode, or not at all. Their last line is a digest, by which a later launch knows whether a
/// file was edited: kInvalid then, naming it, before any is written. A user's own file is written
/// once. Gives the paths.
Result<std::vector<std::string>> write_files(const std::string& folder,
                                             const std::vector<LaunchFile>& files, Edited edited);

/// The files of a folder that `forebay keys new` made, by name. kInvalid when there is none, one is
/// above 64 KiB, or its name does not suit a Kubernetes Secret.
Result<std::vector<KeyFile>> read_keys(const std::string& folder);

}  // namespace forebay
