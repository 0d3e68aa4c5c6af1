#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace forebay {

/// The hosts of a Slurm node list, in its order: `node[01-03,7],gpu-a[1-2]b` is node01, node02,
/// node03, node7, gpu-a1b, gpu-a2b. Several brackets in one name multiply, the last one fastest.
/// kInvalid for a list that Slurm would not write, or of more than 65536 hosts.
Result<std::vector<std::string>> expand_hosts(std::string_view list);

}  // namespace forebay
