#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/base/clock.h"
#include "core/wire/compression.h"
#include "engine/cluster/node_stages.h"

namespace forebay {

/// Decides by measurement whether a worker compresses what it sends: `cluster.compress = "auto"`.
///
/// Once a period it compares the bytes that the stages made with the bytes that could be handed
/// over. If half of the splits that the node may hold are made and not fetched, the link to the
/// trainer is the bottleneck, and the bytes sent are the link's capacity. Each kind of compression
/// is tried on a split of this job. Belongs to one thread.
class LinkCompression {
 public:
  struct Options {
    double cpus = 1;
    const Clock& clock;
    std::function<void(const std::string&)> say;  ///< Reports each change with the measured rates.
  };

  explicit LinkCompression(Options options) : options_(std::move(options)) {}

  /// `ready`: number of splits that are made and not handed over.
  void look(NodeStages& stages, std::uint64_t ready);

 private:
  struct Sums {
    std::chrono::nanoseconds at{0};
    std::uint64_t plain = 0;
    std::uint64_t packed = 0;
  };

  bool try_ways(NodeStages& stages);

  const Options options_;
  CompressionChoice choice_;
  std::optional<Sums> before_;
  std::optional<CompressionChoice::Trials> trials_;
  double make_rate_ = 0;  // the highest rate so far; reached while the link is not the bottleneck
};

}  // namespace forebay
