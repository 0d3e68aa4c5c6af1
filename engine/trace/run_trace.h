#pragma once

#include <map>
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

/// Returns, for every node of `splits`, how far its clock is behind the trainer's: the smallest
/// difference between a split's end on the node and its arrival. The result is too large by the
/// time that this split waited and travelled: all of a node's stages are shown late by this amount,
/// which is less than the time any split took to arrive.
std::map<std::string, SplitTimes::Time> clock_offsets(const std::vector<PastSplit>& splits);

/// Returns a run's splits as a Chrome trace (Trace Event JSON): a process for each node, a thread
/// for each actor that must have existed, a slice for each split and stage, and arrows that follow
/// each split into its batch. Times count from the earliest slice.
std::string chrome_trace(const History& history);

/// Whether a file that begins with these bytes is such a trace.
bool is_chrome_trace(std::string_view begin);

}  // namespace forebay
