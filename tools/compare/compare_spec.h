#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "tuner/sim/pipeline_model.h"
#include "tuner/sim/simulator.h"

namespace forebay {

/// Loads the pipelines of files, and of the `.toml` files of folders, in the order given and by
/// name within a folder. Refuses files that are not pipelines, folders without pipelines, and two
/// pipelines of one name.
Result<std::vector<tuner::PipelineModel>> load_pipelines(const std::vector<std::string>& paths);

/// Returns the files that load_pipelines() reads.
std::vector<std::string> pipeline_files(const std::vector<std::string>& paths);

/// Parses `a,b` into a list; refuses empty names and duplicates.
Result<std::vector<std::string>> split_policies(std::string_view text);

/// Returns the policies of a comparison without `--policies`: every policy except `static` and
/// `one`, which never change the allocation, and `oracle`, with which the others are compared.
std::vector<std::string> usual_policies();

/// Makes emulated machines, which run in real time. When `stop` is set, their runs return at once.
/// Both references outlive the machines.
tuner::MachineMaker emulated_machines(const Clock& clock, const std::atomic<bool>& stop);

}  // namespace forebay
