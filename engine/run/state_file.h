#pragma once

#include <string>

#include "actors/loader_state.h"
#include "core/base/result.h"

namespace forebay {

/// Added to the path that a state is written to first.
inline constexpr char kStateAside[] = ".partial";

/// Reads a loader state that `--state` wrote; refuses a file that is none, or larger than any.
Result<LoaderState> read_state_file(const std::string& path);

/// Writes it aside, synced, and renames it, so that the file is always whole.
Status write_state_file(const std::string& path, const LoaderState& state);

}  // namespace forebay
