#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "core/base/clock.h"
#include "core/wire/compression.h"
#include "engine/cluster/node_stages.h"
#include "engine/cluster/tuner_messages.h"

namespace forebay {

/// Decides by measurement whether a worker compresses what it sends: `cluster.compress = "auto"`.
///
/// Once a period it compares the bytes that the stages made with the bytes that could be handed
/// over. If half of the splits that the node may hold are made and not fetched, the link to the
/// trainer is the bottleneck, and the bytes sent are the link's capacity. Each kind of compression
/// is tried on a split of this job. For the stages of another job it begins anew. Belongs to one
/// thread.
class LinkCompression {
 public:
  using Say = std::function<void(const std::string&)>;

  /// `say` reports each change with the measured rates.
  LinkCompression(double cpus, const Clock& clock, Say say)
      : cpus_(cpus), clock_(clock), say_(std::move(say)) {}

  /// `ready`: number of splits that are made and not handed over. `told`: how the central tuner
  /// wants it to send; empty: it decides by itself.
  void look(NodeStages& stages, std::uint64_t ready, std::optional<Compression> told = {});

  /// Measurements for the central tuner, of the stages that it looked at last.
  LinkSeen seen(const NodeStages& stages) const;

 private:
  struct Sums {
    std::chrono::nanoseconds at{0};
    std::uint64_t plain = 0;
    std::uint64_t packed = 0;
  };
  /// Measurements of one job: the next job has other columns, and its stages count from 0.
  struct Measured {
    std::uint64_t opening = 0;
    CompressionChoice choice = {};
    std::optional<Sums> before = {};
    std::optional<CompressionChoice::Trials> trials = {};
    double blocked = 0;    // the share of the last looks in which made splits waited for the link
    double make_rate = 0;  // the highest rate so far; reached while the link is not the bottleneck
  };

  bool try_ways(NodeStages& stages);
  void obey(NodeStages& stages, Compression told);
  void decide(NodeStages& stages, bool limits);

  const double cpus_;
  const Clock& clock_;
  const Say say_;
  Measured job_;
};

}  // namespace forebay
