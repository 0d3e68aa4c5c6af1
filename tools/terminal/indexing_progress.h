#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace forebay {

/// Formats the progress of indexing: no line for the first seconds, then one every few seconds.
///
/// Time comes from outside. Any thread may call it.
class IndexingProgress {
 public:
  static constexpr std::chrono::seconds kPeriod{3};

  explicit IndexingProgress(std::chrono::nanoseconds now) : began_(now), last_ns_(now.count()) {}

  /// Returns `indexed 1.2 GiB of 4 GiB (30 %), 7.0 s left` if a line is due.
  std::optional<std::string> line(std::uint64_t done, std::uint64_t total,
                                  std::chrono::nanoseconds now);

 private:
  const std::chrono::nanoseconds began_;
  std::atomic<std::int64_t> last_ns_;
};

}  // namespace forebay
