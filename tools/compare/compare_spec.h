#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "tuner/sim/pipeline_model.h"

namespace forebay {

/// The pipelines of files, and of the `.toml` files of folders, in the order given and by name in a
/// folder. Refuses what is no pipeline, a folder without any, and two of one name.
Result<std::vector<tuner::PipelineModel>> load_pipelines(const std::vector<std::string>& paths);

/// The files that load_pipelines() reads.
std::vector<std::string> pipeline_files(const std::vector<std::string>& paths);

/// `a,b` as a list; refuses an empty name and one that is there twice.
Result<std::vector<std::string>> split_policies(std::string_view text);

/// All that a comparison without `--policies` runs: every policy but `static` and `one`, which stay
/// where they start, and `oracle`, which is what the others are measured by.
std::vector<std::string> usual_policies();

}  // namespace forebay
