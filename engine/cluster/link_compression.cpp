#include "engine/cluster/link_compression.h"

#include <algorithm>
#include <vector>

#include "core/base/clock.h"

namespace forebay {
namespace {

constexpr std::chrono::seconds kPeriod(2);
/// Bytes a second assumed for a link that was never seen to be the bottleneck.
constexpr double kFree = 1e12;

}  // namespace

bool LinkCompression::try_ways(NodeStages& stages) {
  if (trials_) return true;
  const std::vector<std::byte> sample = stages.sample();
  if (sample.empty()) return false;
  trials_ = {.lz4 = try_compression(sample, Compression::kLz4, stages.buffers(), options_.clock),
             .zstd = try_compression(sample, Compression::kZstd, stages.buffers(), options_.clock)};
  return true;
}

void LinkCompression::look(NodeStages& stages, std::uint64_t ready) {
  const Sums now{
      .at = options_.clock.now(), .plain = stages.plain_bytes(), .packed = stages.packed_bytes()};
  if (!before_) before_ = now;
  if (now.at - before_->at < kPeriod || !try_ways(stages)) return;
  const double seconds = in_seconds(now.at - before_->at);
  const auto made = static_cast<double>(now.plain - before_->plain) / seconds;
  const auto sent = static_cast<double>(now.packed - before_->packed) / seconds;
  before_ = now;
  const bool limits = 2 * ready >= stages.slots();
  make_rate_ = std::max(make_rate_, made);
  const Compression current = choice_.current();
  const LinkLoad load{.link_rate = limits ? sent : kFree,
                      .make_rate = make_rate_,
                      .cpus = options_.cpus,
                      .receiver_cpus = 1};
  // A link that is fast enough with compression may be so only because of the compression.
  if (!limits && current != Compression::kNone) return;
  if (choice_.decide(load, *trials_) == current) return;
  stages.set_compression(choice_.current());
  options_.say("compression " + std::string(name_in(kCompressionNames, choice_.current())) + ": " +
               choice_.why());
}

}  // namespace forebay
