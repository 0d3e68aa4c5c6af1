#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/metrics/figures.h"
#include "engine/metrics/stage_view.h"

namespace forebay {

/// What a run did in a stretch of time: all that a verdict depends on. A value.
struct Activity {
  double seconds = 0;
  std::uint64_t rows = 0;
  bool trained = true;       ///< Somebody trains on the rows; false: `ingest`.
  double starved_ratio = 0;  ///< Share of the time that the trainer waited for data.
  double cpus_busy = 0;      ///< CPU seconds of the process per second.
  std::uint64_t cpus = 0;    ///< CPUs that it may use; 0: unknown.
  std::vector<StageView> stages = {};
  std::uint64_t window_bytes = 0;  ///< Of splits on their way, at the end of the stretch.
  std::uint64_t window_capacity = 0;
  std::uint64_t window_wanted = 0;  ///< The capacity with any amount of memory.
  /// The workers of a cluster, without the trainer's own node; 0 without any.
  double made_per_second = 0;        ///< Splits that they hand over.
  double could_make_per_second = 0;  ///< Splits that they could make with enough leases.
  std::uint64_t leases = 0;          ///< Splits that they hold.
  std::uint64_t lease_capacity = 0;  ///< Splits that they want to hold.
};

/// Returns the activity between two moments of a run; a default `before` means its start.
Activity activity_between(const RunFigures& before, const RunFigures& now);

/// What limits the rows per second of a run.
enum class Limit : std::uint8_t {
  kUnknown,  ///< Nothing stands out, or there are no rows yet.
  kTrainer,
  kCpus,
  kStage,   ///< The actors of a stage.
  kInput,   ///< The disk or the store behind a stage that reads.
  kBatch,   ///< The one actor that cuts batches.
  kMemory,  ///< The bytes that may be on their way.
  kLink,    ///< The network between workers and trainer.
};

/// Returns `trainer`, `cpus`, `stage`, `input`, `batch`, `memory`, `link` or `unknown`.
std::string_view name_of(Limit limit);

/// What limits a run, why, and what its end would bring.
struct Verdict {
  Limit limit = Limit::kUnknown;
  std::string sentence;  ///< The limit, the reason and advice in one sentence.
  /// At most so many times today's rows per second if this limit alone were gone: then the next
  /// one counts (the other stages' busy shares, the CPUs, the trainer). 1: nothing would be won;
  /// 0: not known.
  double gain = 0;
  std::string stage = {};  ///< The busiest one, for kCpus the heaviest; empty: workers limit.
};

/// Judges a stretch of a run. Pure.
///
/// The limit is the trainer if it hardly ever waited for a batch; the CPUs if all of them were
/// busy or taken by others, with the stage that used most; the link or the memory if workers could
/// make more than they hand over, with and without all the splits that they want to hold; the stage
/// with the busiest actors; the memory if no stage is busy and the window is full and smaller than
/// the actors want it.
Verdict judge(const Activity& activity);

}  // namespace forebay
