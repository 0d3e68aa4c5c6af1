#include "core/wire/compression_choice.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace forebay {
namespace {

constexpr double kWorthIt = 1.1;

/// In the order of their CPU cost, cheapest first.
constexpr std::array kWays{Compression::kNone, Compression::kLz4, Compression::kZstd};

std::string megabytes(double rate) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.0f MB/s", rate / 1e6);
  return text.data();
}

}  // namespace

double CompressionChoice::rate(Compression way, const CompressionTrial& trial,
                               const LinkLoad& load) {
  if (way == Compression::kNone) return std::min(load.link_rate, load.make_rate);
  if (trial.ratio <= 0 || trial.compress_rate <= 0 || load.make_rate <= 0) return 0;
  // CPU seconds per byte: the time to make it and the time to compress it.
  const double seconds_a_byte = load.cpus / load.make_rate + 1 / trial.compress_rate;
  return std::min({load.link_rate / trial.ratio, load.cpus / seconds_a_byte,
                   load.receiver_cpus * trial.restore_rate});
}

Compression CompressionChoice::decide(const LinkLoad& load, const Trials& trials) {
  const std::array rates{rate(Compression::kNone, {}, load),
                         rate(Compression::kLz4, trials.lz4, load),
                         rate(Compression::kZstd, trials.zstd, load)};
  auto chosen = static_cast<std::size_t>(current_);
  for (std::size_t way = chosen; way-- > 0;) {
    if (rates[way] >= rates[chosen]) chosen = way;
  }
  for (std::size_t way = chosen + 1; way < rates.size(); ++way) {
    if (rates[way] > kWorthIt * rates[chosen]) chosen = way;
  }
  current_ = kWays[chosen];
  why_ = "compression " + std::string(name_in(kCompressionNames, current_)) +
         ": plain columns would arrive with " + megabytes(rates[0]) + ", by lz4 with " +
         megabytes(rates[1]) + ", by zstd with " + megabytes(rates[2]) + "; the link carries " +
         megabytes(load.link_rate);
  return current_;
}

}  // namespace forebay
