#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"

namespace forebay {

/// A page for a person of what a job, or a cluster's head, said of itself (status_of). Rates and
/// shares are those since `before`, an earlier answer; empty: since the start. kCorrupt for what is
/// no such answer.
Result<std::string> status_page(std::string_view before, std::string_view now);

}  // namespace forebay
