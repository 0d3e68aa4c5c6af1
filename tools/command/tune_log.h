#pragma once

#include <string>

#include "tools/command/command.h"
#include "tuner/log/decision_log.h"

namespace forebay {

/// Options of the commands that read a decision log.
inline constexpr OptionSpec kLogOption{"--log", "FILE",
                                       "the decision log (default: the last run's, in .forebay)"};

/// Opens the log at `place`: a file, a job's `.forebay`, or a folder that contains it.
Result<tuner::DecisionLog> open_log(const std::string& place);

}  // namespace forebay
