#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "tools/launch/launch_spec.h"

namespace forebay {

/// What to do with files of an earlier launch that were edited since.
enum class Edited { kRefuse, kReplace };

/// Writes `files` into `folder`, which is created if it does not exist; each file appears complete
/// and with its mode, or not at all. Its last line is a digest, from which a later launch knows
/// whether the file was edited: then kInvalid names it before any file is written. A user's own
/// file is written only once. Returns the paths.
Result<std::vector<std::string>> write_files(const std::string& folder,
                                             const std::vector<LaunchFile>& files, Edited edited);

/// Returns the files of a folder that `forebay keys new` made, by name. kInvalid: there is no file,
/// a file is above 64 KiB, or its name does not suit a Kubernetes Secret.
Result<std::vector<KeyFile>> read_keys(const std::string& folder);

}  // namespace forebay
