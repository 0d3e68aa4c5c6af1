#pragma once

#include <map>
#include <string>

#include "core/base/result.h"

namespace forebay {

/// Runs a program to its end and returns the numbers of the JSON object in its last line of stdout.
/// kUnavailable names the command if it fails or prints no such line.
Result<std::map<std::string, double>> numbers_said_by(const std::string& command);

}  // namespace forebay
