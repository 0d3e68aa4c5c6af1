#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/base/clock.h"
#include "core/wire/compression_choice.h"
#include "engine/cluster/node_stages.h"

namespace forebay {

/// Decides whether a worker compresses what it sends, by measuring: `cluster.compress = "auto"`.
///
/// Once a period compares what the stages made with what could be handed over. When half of
/// what the node may hold is made and not fetched, the way to the trainer is what limits; then what
/// went is what the way carries. Each way of compressing is tried on a split of this job. Belongs
/// to one thread.
class LinkCompression {
 public:
  struct Options {
    double cpus = 1;
    const Clock& clock;
    std::function<void(const std::string&)> say;  ///< Each change, with the rates behind it.
  };

  explicit LinkCompression(Options options) : options_(std::move(options)) {}

  /// `ready`: splits that are made and not handed over.
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
  double make_rate_ = 0;  // the most that was made while the way was free
};

}  // namespace forebay
