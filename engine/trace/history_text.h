#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "actors/split_history.h"
#include "core/base/result.h"

namespace forebay {

/// The last splits of a run and when they were asked for, by the trainer's clock. A value.
struct History {
  SplitTimes::Time now{0};
  std::vector<PastSplit> splits;
};

/// How a running job tells `forebay trace` of its splits: a line of JSON, about 250 bytes a split.
std::string history_text(const History& history);

/// Reads it. kCorrupt for anything else.
Result<History> parse_history(std::string_view text);

}  // namespace forebay
