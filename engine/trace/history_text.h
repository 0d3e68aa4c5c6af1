#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "actors/pipeline.h"
#include "core/base/result.h"

namespace forebay {

/// The last splits of a run and the time of the query, by the trainer's clock. A value.
struct History {
  SplitTimes::Time now{0};
  std::vector<std::string> stages;  ///< Names; each split has a time of each.
  std::vector<PastSplit> splits;
};

/// Returns the history as a running job sends it to `forebay trace`: one line of JSON, about 250
/// bytes a split.
std::string history_text(const History& history);

/// Parses it. kCorrupt: any other format.
Result<History> parse_history(std::string_view text);

}  // namespace forebay
