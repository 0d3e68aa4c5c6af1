#pragma once

#include <map>
#include <span>
#include <string>

#include "core/base/result.h"
#include "trainer/checkpoint.h"

namespace forebay {

/// The one with the loader's state.
inline constexpr const char* kLoaderFile = "loader.json";

/// The small files of a checkpoint that hold its TrainState, by name.
std::map<std::string, std::string> to_texts(const TrainState& state);

/// Those that no checkpoint is without.
std::span<const char* const> needed_texts();

/// From the small files of the checkpoint in `folder`, which are all there. kCorrupt names the one
/// that is damaged; kInvalid one of another version.
Result<TrainState> from_texts(std::map<std::string, std::string> texts, const std::string& folder);

}  // namespace forebay
