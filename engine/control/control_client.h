#pragma once

#include <cstddef>
#include <string>

#include "core/base/result.h"

namespace forebay {

/// Asks the job that runs in `run_dir` for a change; returns a description of what it did.
/// kNotFound: no job runs there.
Result<std::string> ask_to_set(const std::string& run_dir, const std::string& key,
                               const std::string& value);

/// Returns the state of the job that runs in `run_dir`, as a line of JSON of at most
/// kMostLookBytes. kNotFound: no job runs there.
Result<std::string> ask_to_look(const std::string& run_dir);
/// Returns the job's last splits in the same way.
Result<std::string> ask_to_trace(const std::string& run_dir);
inline constexpr std::size_t kMostLookBytes = std::size_t{4} << 20;

}  // namespace forebay
