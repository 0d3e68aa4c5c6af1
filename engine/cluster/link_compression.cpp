#include "engine/cluster/link_compression.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace forebay {
namespace {

/// Between two decisions about compression.
constexpr std::chrono::seconds kPeriod(2);
/// Bytes a second assumed for a link that was never seen to be the bottleneck.
constexpr double kFree = 1e12;

std::string named(Compression way) {
  return "compression " + std::string(name_in(kCompressionNames, way)) + ": ";
}

}  // namespace

bool LinkCompression::try_ways(NodeStages& stages) {
  if (job_.trials) return true;
  const std::vector<std::byte> sample = stages.sample();
  if (sample.empty()) return false;
  job_.trials = {.lz4 = try_compression(sample, Compression::kLz4, stages.buffers(), clock_),
                 .zstd = try_compression(sample, Compression::kZstd, stages.buffers(), clock_)};
  return true;
}

LinkSeen LinkCompression::seen(const NodeStages& stages) const {
  LinkSeen link{.blocked = job_.blocked,
                .way = static_cast<std::uint32_t>(stages.compression()),
                .ratios = {},
                .seconds = {}};
  const auto done = static_cast<double>(stages.parts_done());
  if (!job_.trials || done <= 0) return link;
  const double bytes = static_cast<double>(stages.plain_bytes()) / done;
  link.ratios.push_back(1);
  link.seconds.push_back(0);
  for (const CompressionTrial& trial : {job_.trials->lz4, job_.trials->zstd}) {
    link.ratios.push_back(1 / std::max(trial.ratio, 1e-3));
    link.seconds.push_back(trial.compress_rate > 0 ? bytes / trial.compress_rate : 0);
  }
  return link;
}

void LinkCompression::look(NodeStages& stages, std::uint64_t ready,
                           std::optional<Compression> told) {
  constexpr double kNewLook = 0.3;  // weight
  if (stages.opening() != job_.opening) job_ = {.opening = stages.opening()};
  const bool limits = 2 * ready >= stages.slots();
  job_.blocked += kNewLook * ((stages.fed() && limits ? 1 : 0) - job_.blocked);
  if (told) return obey(stages, *told);
  decide(stages, limits);
}

void LinkCompression::obey(NodeStages& stages, Compression told) {
  static_cast<void>(try_ways(stages));
  if (told == stages.compression()) return;
  stages.set_compression(told);
  say_(named(told) + "the central tuner's");
}

// `limits`: the link is the bottleneck.
void LinkCompression::decide(NodeStages& stages, bool limits) {
  const Sums now{
      .at = clock_.now(), .plain = stages.plain_bytes(), .packed = stages.packed_bytes()};
  if (!job_.before) job_.before = now;
  if (now.at - job_.before->at < kPeriod || !try_ways(stages)) return;
  const Sums before = std::exchange(*job_.before, now);
  const double seconds = in_seconds(now.at - before.at);
  const auto made = static_cast<double>(now.plain - before.plain) / seconds;
  const auto sent = static_cast<double>(now.packed - before.packed) / seconds;
  job_.make_rate = std::max(job_.make_rate, made);
  const Compression current = job_.choice.current();
  const LinkLoad load{.link_rate = limits ? sent : kFree,
                      .make_rate = job_.make_rate,
                      .cpus = cpus_,
                      .receiver_cpus = 1};
  // A link that is fast enough with compression may be so only because of the compression.
  if (!limits && current != Compression::kNone) return;
  const Compression chosen = job_.choice.decide(load, *job_.trials);
  if (chosen == current) return;
  stages.set_compression(chosen);
  say_(named(chosen) + job_.choice.why());
}

}  // namespace forebay
