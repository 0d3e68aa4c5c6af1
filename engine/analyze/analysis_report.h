#pragma once

#include <string>

#include "engine/analyze/analysis.h"
#include "engine/report/json_object.h"

namespace forebay {

/// `shares`, `parts`, `costs` (microseconds a row), `what_if`, `limiting_part`, `verdict`,
/// `advice`.
JsonObject to_json(const Analysis& analysis);

/// The same for the user, in lines.
std::string format_analysis(const Analysis& analysis);

}  // namespace forebay
