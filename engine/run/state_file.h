#pragma once

#include <string>

#include "actors/loader_state.h"
#include "core/base/result.h"

namespace forebay {

/// Reads a loader state that `--state` wrote; refuses files in another format or larger than any
/// state.
Result<LoaderState> read_state_file(const std::string& path);

/// Writes a temporary file, syncs it and renames it, so that the file is always complete.
Status write_state_file(const std::string& path, const LoaderState& state);

}  // namespace forebay
