#pragma once

#include <map>
#include <string>

#include "core/base/result.h"

namespace forebay {

/// Runs a program to its end and gives the numbers of the JSON object that its last line of stdout
/// is. kUnavailable, naming the command, when it fails or prints no such thing.
Result<std::map<std::string, double>> numbers_said_by(const std::string& command);

}  // namespace forebay
