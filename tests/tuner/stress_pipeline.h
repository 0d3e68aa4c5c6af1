#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "tuner/allocation.h"
#include "tuner/sim/pipeline_model.h"

namespace forebay::tuner {

/// The kinds of stress pipelines; the seed modulo their number selects one.
enum class StressFamily : std::uint8_t {
  kMixed,       ///< A little of everything.
  kLongSplits,  ///< Few stages, splits that take seconds, much noise.
  kContended,   ///< Most stages contend.
  kLimited,     ///< A disk or link limits a stage near the pipeline's rate.
  kLong,        ///< Six to nine stages with short queues.
  kHasty,       ///< Disturbances half a minute apart, some at the same moment.
  kSpaced,      ///< Less noise, short splits, disturbances one to five minutes apart. By name only.
};
inline constexpr std::uint64_t kStressFamilies = 6;  ///< Without kSpaced.

/// Draws pipelines whose work, machine and trainer change one to five times and never go back to
/// what they were: what a tuner has learned is wrong from then on. The same seed gives the same
/// pipeline. Files of such pipelines are legal (engine/modelled/pipeline_file.h).
class StressSampler {
 public:
  StressSampler(std::uint64_t seed, StressFamily family)
      : random_(mix64(seed, 0x737472657373)), family_(family) {
    model_.name = "stress-" + std::to_string(seed);
  }

  PipelineModel drawn() {
    draw_machine();
    for (StageModel& stage : model_.stages) draw(stage);
    if (chance(family_ == StressFamily::kLimited ? 1 : 0.2)) limit_a_stage();
    draw_memory();
    model_.trainer_step_seconds = 1 / (best_rate() * log_uniform(0.6, 3));
    draw_events();
    return model_;
  }

 private:
  static constexpr double kMiB = 1 << 20;

  double uniform(double low, double high) { return low + (high - low) * random_.uniform(); }
  double log_uniform(double low, double high) {
    return low * std::exp(random_.uniform() * std::log(high / low));
  }
  bool chance(double share) { return random_.uniform() < share; }
  template <std::size_t N>
  double one_of(const std::array<double, N>& values) {
    return values[random_.below(N)];
  }
  std::uint32_t whole(std::uint32_t low, std::uint32_t high) {
    return low + random_.below(high - low + 1);
  }
  static std::uint64_t bytes(double mib) { return static_cast<std::uint64_t>(mib * kMiB); }

  void draw_machine() {
    model_.cpus = one_of(std::array{8.0, 12.0, 16.0, 32.0, 40.0, 64.0, 96.0, 128.0});
    const bool few = family_ == StressFamily::kLongSplits;
    const bool many = family_ == StressFamily::kLong;
    model_.stages.resize(many ? whole(6, 9) : whole(spaced() ? 3 : 2, few ? 4 : 7));
    model_.queue_splits = many ? whole(1, 3) : 1U << whole(1, spaced() ? 3 : 4);
    model_.prefetch_splits = 4U << whole(0, 3);
    model_.rows_per_split = 4096;
    model_.base_bytes = bytes(log_uniform(512, 8192));
    noise_ = few ? uniform(0.2, 0.8) : uniform(0, spaced() ? 0.4 : 0.6);
  }

  bool spaced() const { return family_ == StressFamily::kSpaced; }

  double most_seconds() const {
    if (spaced()) return 0.3;
    return family_ == StressFamily::kLongSplits ? 6 : 1.5;
  }

  void draw(StageModel& stage) {
    const auto number = &stage - model_.stages.data();
    stage.name = "stage" + std::to_string(number);
    stage.seconds = log_uniform(0.005, most_seconds());
    stage.noise = noise_ * uniform(0.85, 1.15);
    if (chance(spaced() && number == 0 ? 1 : 0.4)) {
      stage.cpu = one_of(std::array{0.05, 0.1, 0.2, 0.3, 0.5, 0.7});
      stage.seconds *= log_uniform(1, spaced() ? 12 : 4);
      stage.max_actors = 256;
    }
    if (chance(family_ == StressFamily::kContended ? 0.75 : 0.25)) {
      stage.alpha = log_uniform(0.004, 0.06);
      if (chance(0.5)) stage.beta = log_uniform(2e-4, 2e-3);
    }
    if (chance(0.06)) stage.max_actors = whole(2, 12);
    stage.bytes_per_actor = bytes(log_uniform(64, 1024));
    stage.bytes_out = bytes(log_uniform(3, 80));
  }

  /// The rate of the best allocation with all memory, and without a trainer.
  double best_rate() const {
    PipelineModel free = model_;
    free.events.clear();
    free.memory_bytes = std::uint64_t{1} << 60;
    free.trainer_step_seconds = 0;
    return oracle_of(free).splits_per_second;
  }

  void limit_a_stage() {
    const double limit = best_rate() * uniform(0.5, 1.4);
    model_.stages[chance(0.7) ? 0 : any_stage()].max_rate = limit;
  }

  void draw_memory() {
    const PipelineDescription description = description_of(model_);
    PipelineModel free = model_;
    free.memory_bytes = std::uint64_t{1} << 60;
    Allocation best = oracle_of(free).allocation;
    best.prefetch = model_.prefetch_splits;
    const Allocation least = one_each(description);
    const auto enough = static_cast<double>(worst_case_bytes(description, least)) * 1.05;
    const auto wanted = static_cast<double>(worst_case_bytes(description, best));
    model_.memory_bytes =
        static_cast<std::uint64_t>(std::max(enough, wanted * log_uniform(0.8, 4)));
  }

  std::size_t any_stage() { return random_.below(model_.stages.size()); }

  void draw_events() {
    const bool hasty = family_ == StressFamily::kHasty;
    double at = std::round(uniform(spaced() ? 250 : 100, spaced() ? 250 : 300));
    for (std::uint32_t left = hasty ? whole(3, 5) : whole(1, 5); left > 0; --left) {
      model_.events.push_back(event_at(at));
      at += hasty ? one_of(std::array{0.0, 30.0, 45.0, 90.0})
                  : one_of(std::array{60.0, 120.0, 150.0, 300.0});
    }
  }

  ModelEvent event_at(double at) {
    ModelEvent event{.at_seconds = at};
    const double kind = random_.uniform();
    if (kind < 0.55) {
      event.stage = any_stage();
      event.seconds_factor = one_of(std::array{0.2, 0.35, 0.5, 2.0, 3.0, 5.0, 8.0, 12.0});
    } else if (kind < 0.7) {
      event.stage = chance(0.7) ? 0 : any_stage();
      const double limit = model_.stages[*event.stage].max_rate;
      event.max_rate = chance(0.2) ? 0
                                   : (limit > 0 ? limit : best_rate()) *
                                         one_of(std::array{0.3, 0.5, 0.8, 1.5, 3.0});
    } else if (kind < 0.82) {
      event.cpus = std::max(2.0, std::round(model_.cpus * one_of(std::array{0.5, 0.75, 1.0, 1.5})));
    } else if (kind < 0.9) {
      draw_limit(event);
    } else {
      event.trainer_step_seconds = model_.trainer_step_seconds * log_uniform(0.4, 2.5);
    }
    return event;
  }

  void draw_limit(ModelEvent& event) {
    const PipelineDescription description = description_of(model_);
    // Batches that wait for the trainer may not leave within the four seconds that a lowered limit
    // gives.
    const Allocation least = one_each(description);
    const double fewest = static_cast<double>(worst_case_bytes(description, least)) * 1.05;
    event.memory_bytes = static_cast<std::uint64_t>(
        std::max(fewest, static_cast<double>(model_.memory_bytes) * uniform(0.4, 1.5)));
  }

  Random random_;
  StressFamily family_;
  double noise_ = 0;
  PipelineModel model_;
};

inline PipelineModel stress_pipeline(std::uint64_t seed, StressFamily family) {
  return StressSampler(seed, family).drawn();
}

inline PipelineModel stress_pipeline(std::uint64_t seed) {
  return stress_pipeline(seed, static_cast<StressFamily>(seed % kStressFamilies));
}

}  // namespace forebay::tuner
