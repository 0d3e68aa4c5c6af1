#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace forebay {

/// What is known when a run has to end soon and its last batches are in no checkpoint yet.
struct LastSaveQuestion {
  std::uint64_t bytes = 0;          ///< Of a checkpoint.
  std::uint64_t bytes_left = 0;     ///< Of the one in flight; 0: none is.
  double bytes_per_second = 0;      ///< As measured; 0: not yet.
  std::chrono::nanoseconds left{};  ///< Until the run is ended from outside.
};

/// What loses the least.
enum class LastSave : std::uint8_t {
  kWaitAndWrite,  ///< What is in flight, then the last one.
  kWrite,         ///< What is in flight is given up for the last one.
  kWait,          ///< Only what is in flight ends in time.
  kNothing,       ///< Nothing does: the last complete one stands.
};

/// Without a measured speed it is tried; whoever writes gives up in time.
LastSave plan_last_save(const LastSaveQuestion& question);

/// How long so many bytes take; nothing without a measured speed.
std::optional<std::chrono::nanoseconds> time_to_write(std::uint64_t bytes, double bytes_per_second);

}  // namespace forebay
