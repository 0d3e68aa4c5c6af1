#pragma once

#include <string>

#include "tools/command/command.h"
#include "tuner/log/decision_log.h"

namespace forebay {

/// Options of the commands that look into a decision log.
inline constexpr OptionSpec kLogOption{"--log", "FILE",
                                       "the decision log (default: the last run's, in .forebay)"};

/// The log that `place` names: a file, or a folder with a job's `.forebay`, or that itself.
Result<tuner::DecisionLog> open_log(const std::string& place);

}  // namespace forebay
