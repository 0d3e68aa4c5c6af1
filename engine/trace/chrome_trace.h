#pragma once

#include <map>
#include <string>
#include <vector>

#include "actors/split_history.h"

namespace forebay {

/// By how much a node's clock is behind the trainer's, for every node of `splits`: the least that
/// ever lay between a split's end there and its arrival. So it is too large, by what that split
/// waited there and was on its way: all of a node's stages are shown late by the same time, which
/// is less than any split took to come.
std::map<std::string, SplitTimes::Time> clock_offsets(const std::vector<PastSplit>& splits);

/// The splits as a Chrome trace (Trace Event JSON): a process a node, a thread an actor that must
/// have been there, a slice a split and stage, and arrows that follow each split into its batch.
/// Times count from the earliest slice.
std::string chrome_trace(const std::vector<PastSplit>& splits);

}  // namespace forebay
