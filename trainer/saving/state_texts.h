#pragma once

#include <map>
#include <span>
#include <string>

#include "core/base/result.h"
#include "trainer/checkpoint.h"

namespace forebay {

/// The small file with the loader's state.
inline constexpr const char* kLoaderFile = "loader.json";

/// The small files of a checkpoint that hold its TrainState, by name.
std::map<std::string, std::string> to_texts(const TrainState& state);

/// The names of the texts that every checkpoint has.
std::span<const char* const> needed_texts();

/// Parses the small files of the checkpoint in `folder`; all of them must be present. kCorrupt
/// names the file that is damaged; kInvalid the file of another version.
Result<TrainState> from_texts(std::map<std::string, std::string> texts, const std::string& folder);

}  // namespace forebay
