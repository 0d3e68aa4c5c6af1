#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace forebay {

/// Returns the hosts of a Slurm node list, in its order: `node[01-03,7],gpu-a[1-2]b` is node01,
/// node02, node03, node7, gpu-a1b, gpu-a2b. Several brackets in one name are combined, the last one
/// varies fastest. kInvalid: Slurm would not write such a list, or it has more than 65536 hosts.
Result<std::vector<std::string>> expand_hosts(std::string_view list);

}  // namespace forebay
