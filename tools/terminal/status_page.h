#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"

namespace forebay {

/// Formats the answer of a job or of a cluster's head (status_of) as a page for the user. Rates and
/// shares are those since `before`, an earlier answer; empty: since the start. kCorrupt: not such
/// an answer.
Result<std::string> status_page(std::string_view before, std::string_view now);

}  // namespace forebay
