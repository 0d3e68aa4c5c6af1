#pragma once

#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace forebay::tuner {

/// The declared properties of a stage, known before any measurement.
struct StageDescription {
  std::string name;
  std::uint32_t max_actors = 128;     ///< The stage's own bound, at least 1.
  std::uint64_t bytes_per_actor = 0;  ///< Of one actor: input, working space, largest result.
  /// 0: the actors of the stage before can do its work, too (tuner/fused_stages.h); else 1.
  std::uint32_t least_actors = 1;
  /// Its actors call a user's functions, which take memory that no description knows.
  bool calls_user_code = false;
};

/// The declared properties of a pipeline: its stages in order and their memory. A value.
struct PipelineDescription {
  std::vector<StageDescription> stages = {};
  std::uint32_t max_actors = 0;           ///< Over all stages; 0: no bound.
  std::uint32_t max_prefetch = 1;         ///< Most finished items that may wait for the trainer.
  std::uint32_t default_prefetch = 1;     ///< The job's prefetch.
  std::uint64_t prefetch_item_bytes = 0;  ///< Of one item, at its largest.
  std::uint64_t fixed_bytes = 0;          ///< Used by every allocation: base, all queues full.
  std::uint64_t rows_per_split = 1;       ///< Mean.
};

/// The resources that the machine grants; may change while a job runs.
struct Limits {
  double cpus = 1;                 ///< Shared by all actors.
  std::uint64_t memory_bytes = 0;  ///< The process is killed above this.
};

/// The values that a tuner sets: actors of each stage, and the most finished items that may wait. A
/// value.
struct Allocation {
  /// One per PipelineDescription::stages; 0: the actors of the stage before do its work.
  std::vector<std::uint32_t> actors = {};
  std::uint32_t prefetch = 1;

  std::uint32_t total_actors() const {
    return std::accumulate(actors.begin(), actors.end(), std::uint32_t{0});
  }
  friend bool operator==(const Allocation&, const Allocation&) = default;
};

/// One actor in every stage and the requested prefetch: the start of every tuner.
inline Allocation one_each(const PipelineDescription& description) {
  return {.actors = std::vector<std::uint32_t>(description.stages.size(), 1),
          .prefetch = description.default_prefetch};
}

/// Bytes in use when every queue and the prefetch are full.
inline std::uint64_t worst_case_bytes(const PipelineDescription& description,
                                      const Allocation& allocation) {
  std::uint64_t bytes =
      description.fixed_bytes + allocation.prefetch * description.prefetch_item_bytes;
  for (std::size_t i = 0; i < description.stages.size(); ++i) {
    bytes += allocation.actors[i] * description.stages[i].bytes_per_actor;
  }
  return bytes;
}

/// The bounds of an allocation. A value.
struct Bounds {
  std::uint32_t actors = 0;  ///< Over all stages; 0: no bound.
  std::uint64_t bytes = 0;   ///< Of worst_case_bytes().
};

/// Returns `wanted` as an allocation of this pipeline: an entry for every stage (1 if `wanted` has
/// none), each clamped to the stage's own bounds, and prefetch clamped to 1 and the largest.
Allocation shaped(const PipelineDescription& description, const Allocation& wanted);

/// Whether a shaped allocation is within the bounds.
bool within(const PipelineDescription& description, const Allocation& allocation,
            const Bounds& bounds);

/// Whether the allocation is within the bounds with one more actor in `stage`.
bool fits_one_more(const PipelineDescription& description, const Allocation& allocation,
                   std::size_t stage, const Bounds& bounds);

/// Returns the stage with the smallest share of its wanted actors, less than all of them, among the
/// stages for which `may_grow` returns true; nothing if there is none. A stage of which no actors
/// are wanted has all.
template <class MayGrow>
std::optional<std::size_t> neediest(const Allocation& now, const Allocation& wanted,
                                    MayGrow may_grow) {
  std::optional<std::size_t> found;
  double least = 1;
  for (std::size_t i = 0; i < wanted.actors.size(); ++i) {
    if (wanted.actors[i] == 0) continue;
    const double share = static_cast<double>(now.actors[i]) / wanted.actors[i];
    if (share >= least || !may_grow(i)) continue;
    found = i;
    least = share;
  }
  return found;
}

/// The most items of prefetch, at most `wanted`, that fit beside the actors; at least 1.
std::uint32_t prefetch_beside(const PipelineDescription& description, Allocation allocation,
                              std::uint32_t wanted, const Bounds& bounds);

/// The most of a shaped allocation that is within the bounds: prefetch is cut first, then actors in
/// proportion (the largest scale at which they fit, rounded down). Bytes and actors that are left
/// go to the stage furthest from its wanted number, and at last to prefetch. Returns at least one
/// actor for each stage that wants one, and one item, even if these do not fit.
Allocation fitted(const PipelineDescription& description, const Allocation& wanted,
                  const Bounds& bounds);

/// What a tuner maximises.
enum class RewardMode : std::uint8_t {
  kUsable,  ///< Rows the trainer can use, less a little for actors and memory. The default.
  kPaper,   ///< InTune's: throughput × (1 − memory used / total) (Nagrecha et al., RecSys 2023).
};

/// Parses the name in a job file or a decision log: "paper", or "usable".
inline RewardMode reward_mode(std::string_view name) {
  return name == "paper" ? RewardMode::kPaper : RewardMode::kUsable;
}

/// The cost of an allocation as a share of its rate, 0 to 1: reward = rate × (1 − price).
///
/// The rate is that of the trainer, so a pipeline faster than its trainer earns nothing more. The
/// default's prices break ties: as many actors as CPUs cost half a per cent.
inline double price(RewardMode mode, const PipelineDescription& description, const Limits& limits,
                    const Allocation& allocation) {
  constexpr double kActors = 0.005;  // as many actors as CPUs
  constexpr double kMemory = 0.005;  // all of memory
  const double memory = static_cast<double>(worst_case_bytes(description, allocation)) /
                        static_cast<double>(limits.memory_bytes);
  if (mode == RewardMode::kPaper) return memory;
  const double cpus = limits.cpus + static_cast<double>(description.stages.size());
  return kActors * allocation.total_actors() / cpus + kMemory * memory;
}

}  // namespace forebay::tuner
