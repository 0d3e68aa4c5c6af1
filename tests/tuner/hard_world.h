#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>

#include "core/base/random.h"
#include "tuner/sim/pipeline_model.h"
#include "tuner/sim/random_pipeline.h"

namespace forebay::tuner {

/// What makes a world hard; the seed modulo their number selects the first, and chance others.
enum class HardFamily : std::uint8_t {
  kDisk,        ///< Two or three stages share a disk that limits them together.
  kLock,        ///< A resource that one split of several stages can have at a time.
  kMemory,      ///< Memory bandwidth: stages slow each other down, and look busy.
  kHeavyTails,  ///< Some splits take many times as long, behind which ordered ones may wait.
  kOrdered,     ///< The trainer takes splits by number, and few may be on their way.
  kDrift,       ///< A shared resource or a stage changes over minutes.
  kStartUp,     ///< Actors start for seconds before their first split.
  kPauses,      ///< The trainer takes nothing for some seconds, again and again.
};
inline constexpr std::uint64_t kHardFamilies = 8;

inline const char* name_of(HardFamily family) {
  constexpr std::array<const char*, kHardFamilies> kFamilyNames{
      "disk", "lock", "memory", "tails", "ordered", "drift", "start-up", "pauses"};
  return kFamilyNames[static_cast<std::size_t>(family)];
}

inline HardFamily hard_family(std::uint64_t seed) {
  return static_cast<HardFamily>(seed % kHardFamilies);
}

/// Draws worlds of one node that say what a planner's equations cannot. The same seed gives the
/// same world. A policy is not trained on any of these.
class HardWorldSampler {
 public:
  explicit HardWorldSampler(std::uint64_t seed)
      : random_(mix64(seed, 0x68617264)), family_(hard_family(seed)) {
    constexpr RandomPipelineOptions kSmall{.most_stages = 6,
                                           .fewest_cpus = 8,
                                           .most_cpus = 48,
                                           .contended = 0.3,
                                           .trainer_bound = 0,
                                           .most_noise = 0.4,
                                           .most_splits_per_second = 120};
    model_ = random_pipeline(mix64(seed, 0x776f726c64), kSmall);
    model_.name = "hard-" + std::to_string(seed) + "-" + name_of(family_);
    fair_ = oracle_of(model_).splits_per_second;
  }

  PipelineModel drawn() {
    add(family_);
    if (chance(0.4)) add(static_cast<HardFamily>(random_.below(kHardFamilies)));
    if (chance(0.2)) add(static_cast<HardFamily>(random_.below(kHardFamilies)));
    return model_;
  }

 private:
  double uniform(double low, double high) { return low + (high - low) * random_.uniform(); }
  double log_uniform(double low, double high) {
    return low * std::exp(random_.uniform() * std::log(high / low));
  }
  bool chance(double share) { return random_.uniform() < share; }
  StageModel& any_stage() { return model_.stages[random_.below(model_.stages.size())]; }

  void add(HardFamily family) {
    switch (family) {
      case HardFamily::kDisk:
        return share("disk", log_uniform(0.3, 1.1));
      case HardFamily::kLock:
        return share("lock", log_uniform(0.25, 0.9));
      case HardFamily::kMemory:
        return share("dram", log_uniform(0.4, 1.2));
      case HardFamily::kHeavyTails:
        return draw_tails();
      case HardFamily::kOrdered:
        return draw_order();
      case HardFamily::kDrift:
        return draw_drift();
      case HardFamily::kStartUp:
        for (StageModel& stage : model_.stages) stage.start_seconds = log_uniform(1, 15);
        return;
      case HardFamily::kPauses:
        model_.pause = {.every = std::round(uniform(12, 40)), .seconds = std::round(uniform(2, 6))};
        return;
    }
  }

  /// Two or three stages share a resource that allows `times` the rate of the pipeline without it.
  void share(const std::string& name, double times) {
    for (const ResourceModel& each : model_.resources) {
      if (each.name == name) return;
    }
    const std::size_t users = std::min<std::size_t>(2 + random_.below(2), model_.stages.size());
    double asked = 0;
    for (std::size_t first = random_.below(model_.stages.size()), k = 0; k < users; ++k) {
      StageModel& stage = model_.stages[(first + k) % model_.stages.size()];
      stage.uses.push_back({.resource = name, .units = log_uniform(0.2, 1)});
      asked += stage.uses.back().units;
    }
    model_.resources.push_back({.name = name, .rate = asked * fair_ * times});
  }

  void draw_tails() {
    StageModel& stage = any_stage();
    stage.tail = {.share = log_uniform(0.005, 0.05), .shape = uniform(1.3, 2.2)};
    if (chance(0.5)) draw_order();
  }

  void draw_order() {
    model_.stages.back().ordered = true;
    model_.prefetch_splits = std::min(model_.prefetch_splits, 4U << random_.below(2));
  }

  void draw_drift() {
    ModelEvent event{.at_seconds = std::round(uniform(20, 60)),
                     .over_seconds = std::round(uniform(60, 120))};
    if (!model_.resources.empty()) {
      event.resource = model_.resources.front().name;
      event.rate = model_.resources.front().rate * log_uniform(0.4, 0.8);
    } else {
      event.stage = random_.below(model_.stages.size());
      event.seconds_factor = log_uniform(1.5, 3);
    }
    model_.events = {event};
  }

  Random random_;
  HardFamily family_;
  PipelineModel model_;
  double fair_ = 0;  // The best rate without what makes it hard, splits/s.
};

inline PipelineModel hard_world(std::uint64_t seed) { return HardWorldSampler(seed).drawn(); }

}  // namespace forebay::tuner
