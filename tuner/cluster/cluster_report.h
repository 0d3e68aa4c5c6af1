#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tuner/allocation.h"
#include "tuner/tuned_pipeline.h"

namespace forebay::tuner {

/// What the trainer did in an interval.
struct TrainerReport {
  double seconds = 0;         ///< The interval's length, without pauses.
  double waited_seconds = 0;  ///< Of these, waiting for data.
  double paused_seconds = 0;  ///< Beside them: checkpoints and evaluation.
  double able = 0;            ///< Splits/s that it trains on while it does not wait; 0: not known.
  std::uint32_t threads = 0;  ///< Of its model, at the interval's end; 0: not known.
  std::uint32_t most_threads = 0;  ///< Its model may have so many; 0: they may not be changed.
};

/// One way to send splits, as measured on a split of the job. The first one of a node is plain.
struct LinkWay {
  double ratio = 1;    ///< Bytes of a plain split over bytes of one that is sent so.
  double seconds = 0;  ///< CPU seconds that it costs to pack a split.
};

/// What one node reports of an interval. Every node has the same stages.
struct NodeReport {
  std::string name = {};
  bool trainer = false;  ///< The trainer's own node: always fed, and behind no link.
  bool fresh = true;     ///< False: the node has not reported since the last decision.
  PipelineDescription description = {};
  Limits limits = {};
  Observation seen = {};
  double blocked = 0;   ///< The share of time in which finished splits waited for the link.
  std::size_t way = 0;  ///< How it sends now: an index of `ways`.
  std::vector<LinkWay> ways = {};  ///< Empty: plain is the only one.
};

/// What the planner sees of the whole cluster. A value.
struct ClusterReport {
  double at_seconds = 0;  ///< Since the job's start.
  TrainerReport trainer = {};
  std::vector<NodeReport> nodes = {};  ///< By name, each once; exactly one is the trainer's.
};

/// Advice for one node. Absolute, so that the same advice twice changes nothing.
struct NodeAdvice {
  Allocation allocation = {};
  bool fed = true;               ///< False: it is leased no splits.
  std::size_t way = 0;           ///< How it sends: an index of its `ways`.
  double splits_per_second = 0;  ///< Expected of it.
};

/// One decision for the whole cluster.
struct ClusterAdvice {
  std::uint64_t number = 0;            ///< From 1.
  std::vector<NodeAdvice> nodes = {};  ///< In the order of the report.
  std::uint32_t fed = 0;         ///< Workers that get splits; the trainer's node does not count.
  std::uint32_t workers = 0;     ///< Workers worth having: more than there are if they lack.
  std::uint32_t threads = 0;     ///< Of the trainer's model; 0: it keeps its own.
  double splits_per_second = 0;  ///< Expected of all nodes.
  double demand = 0;             ///< Splits/s that the trainer takes; 0: not known.
  std::string reason = {};
};

}  // namespace forebay::tuner
