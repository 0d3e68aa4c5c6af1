#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace forebay {

/// The kind and range of a key of a pipeline file.
struct PipelineKey {
  enum class Kind : std::uint8_t { kText, kWhole, kNumber };

  std::string_view name;
  Kind kind = Kind::kNumber;
  double low = 0;
  double high = 0;
  bool required = false;
};

/// The keys of each table. Ranges are so narrow that no sum over a pipeline overflows.
std::span<const PipelineKey> pipeline_keys();
std::span<const PipelineKey> trainer_keys();
std::span<const PipelineKey> stage_keys();
std::span<const PipelineKey> stage_event_keys();    ///< An event with the key `stage`.
std::span<const PipelineKey> machine_event_keys();  ///< An event without it.

inline constexpr std::size_t kMostStages = 64;
inline constexpr std::size_t kMostEvents = 1000;

/// Describes the value, to follow "must be": `a whole number from 1 to 4096`.
std::string describe_wanted(const PipelineKey& key);

}  // namespace forebay
