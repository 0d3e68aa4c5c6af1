#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace forebay {

/// The state of a run that has to end soon while its last batches are in no checkpoint yet.
struct LastSaveQuestion {
  std::uint64_t bytes = 0;          ///< Of one checkpoint.
  std::uint64_t bytes_left = 0;     ///< Of the checkpoint in flight; 0: there is none.
  double bytes_per_second = 0;      ///< As measured; 0: not measured yet.
  std::chrono::nanoseconds left{};  ///< Until the run is ended from outside.
};

/// The action that loses the fewest batches.
enum class LastSave : std::uint8_t {
  kWaitAndWrite,  ///< Finish the checkpoint in flight, then write the last one.
  kWrite,         ///< Cancel the checkpoint in flight and write the last one.
  kWait,          ///< Only the checkpoint in flight can finish in time.
  kNothing,       ///< No checkpoint can finish in time: the last complete one remains.
};

/// Plans to write if the speed is unknown; the writer cancels in time.
LastSave plan_last_save(const LastSaveQuestion& question);

/// The time to write so many bytes; empty if the speed is unknown.
std::optional<std::chrono::nanoseconds> time_to_write(std::uint64_t bytes, double bytes_per_second);

}  // namespace forebay
