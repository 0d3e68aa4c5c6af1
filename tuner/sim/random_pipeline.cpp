#include "tuner/sim/random_pipeline.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "tuner/allocation.h"
#include "tuner/sim/pipeline_model.h"

namespace forebay::tuner {
namespace {

constexpr double kMiB = 1 << 20;
constexpr double kRoom = 1.02;  // Slack, so that an allocation does not fit by a single byte.

/// Draws random numbers from the distributions of pipelines. A value.
class ValueSampler {
 public:
  explicit ValueSampler(std::uint64_t seed) : random_(seed) {}

  bool chance(double share) { return random_.uniform() < share; }
  double uniform(double low, double high) { return low + (high - low) * random_.uniform(); }
  double log_uniform(double low, double high) {
    return low * std::exp(random_.uniform() * std::log(high / low));
  }
  /// A whole number, both ends included.
  std::uint32_t whole(std::uint32_t low, std::uint32_t high) {
    return low + random_.below(high - low + 1);
  }

 private:
  Random random_;
};

/// A disturbance, and the event that reverts it.
struct Disturbance {
  ModelEvent begins;
  ModelEvent ends;
};

Disturbance slower_stage(const PipelineModel& model, ValueSampler& sampler) {
  const std::size_t stage = sampler.whole(0, static_cast<std::uint32_t>(model.stages.size()) - 1);
  return {.begins = {.stage = stage, .seconds_factor = 4.0},
          .ends = {.stage = stage, .seconds_factor = 1.0}};
}

Disturbance other_cpus(const PipelineModel& model, ValueSampler& sampler) {
  const double factor = sampler.chance(0.5) ? 0.5 : 2.0;
  return {.begins = {.cpus = std::max(1.0, std::floor(model.cpus * factor))},
          .ends = {.cpus = model.cpus}};
}

/// Limits a stage to a third: of its rate limit if a stage has one, else the first stage to a third
/// of the pipeline's rate.
Disturbance slower_storage(const PipelineModel& model) {
  const auto limited = std::find_if(model.stages.begin(), model.stages.end(),
                                    [](const StageModel& stage) { return stage.max_rate > 0; });
  const bool found = limited != model.stages.end();
  const auto stage = found ? static_cast<std::size_t>(limited - model.stages.begin()) : 0;
  const double rate = found ? limited->max_rate : oracle_of(model).splits_per_second;
  return {.begins = {.stage = stage, .max_rate = rate / 3},
          .ends = {.stage = stage, .max_rate = model.stages[stage].max_rate}};
}

Disturbance less_memory(const PipelineModel& model) {
  const PipelineDescription description = description_of(model);
  Allocation least = one_each(description);
  least.prefetch = 1;
  const double fewest = static_cast<double>(worst_case_bytes(description, least)) * kRoom;
  const double half = static_cast<double>(model.memory_bytes) / 2;
  return {.begins = {.memory_bytes = static_cast<std::uint64_t>(std::max(half, fewest))},
          .ends = {.memory_bytes = model.memory_bytes}};
}

Disturbance other_trainer(const PipelineModel& model, ValueSampler& sampler) {
  const double step = model.trainer_step_seconds;
  return {.begins = {.trainer_step_seconds = step * sampler.log_uniform(0.4, 3)},
          .ends = {.trainer_step_seconds = step}};
}

Disturbance any_disturbance(const PipelineModel& model, ValueSampler& sampler) {
  switch (sampler.whole(0, 4)) {
    case 0:
      return slower_stage(model, sampler);
    case 1:
      return other_cpus(model, sampler);
    case 2:
      return slower_storage(model);
    case 3:
      return less_memory(model);
    default:
      return other_trainer(model, sampler);
  }
}

/// One to four disturbances of `model`, each reverted 120 to 300 s later, the next as long after
/// that: a stage that takes four times as long, half or twice the CPUs, a third of a stage's rate,
/// half the memory (one actor per stage with prefetch 1 stays legal), another trainer.
std::vector<ModelEvent> random_events(const PipelineModel& model, ValueSampler& sampler) {
  std::vector<ModelEvent> events;
  double at = 0;
  const auto add = [&](ModelEvent event) {
    event.at_seconds = at;
    events.push_back(event);
  };
  for (std::uint32_t left = sampler.whole(1, 4); left > 0; --left) {
    const Disturbance disturbance = any_disturbance(model, sampler);
    at = std::round(at + sampler.uniform(120, 300));
    add(disturbance.begins);
    at = std::round(at + sampler.uniform(120, 300));
    add(disturbance.ends);
  }
  return events;
}

/// Draws one pipeline, part by part; later parts depend on earlier ones.
class PipelineSampler {
 public:
  PipelineSampler(std::uint64_t seed, const RandomPipelineOptions& options)
      : sampler_(mix64(seed, 0x70697065)), options_(options) {
    model_.name = "random-" + std::to_string(seed);
  }

  PipelineModel drawn() {
    draw_machine();
    draw_costs();
    if (sampler_.chance(options_.waiting)) draw_waiting();
    scale_costs();
    if (sampler_.chance(options_.contended)) draw_contention();
    draw_noise();
    draw_bounds();
    draw_bytes();
    draw_memory();
    draw_trainer();
    if (options_.events) model_.events = random_events(model_, sampler_);
    return model_;
  }

 private:
  void draw_machine() {
    model_.cpus = std::round(sampler_.log_uniform(options_.fewest_cpus, options_.most_cpus));
    model_.stages.resize(sampler_.whole(options_.fewest_stages, options_.most_stages));
    model_.queue_splits = sampler_.whole(4, 16);
    model_.prefetch_splits = 4U << sampler_.whole(0, 3);
    model_.rows_per_split = 1024U << sampler_.whole(0, 4);
    // Keeps services below three seconds: a decision is taken every two.
    const double fewest = std::clamp(model_.cpus / 3, options_.fewest_splits_per_second,
                                     options_.most_splits_per_second);
    rate_ = sampler_.log_uniform(fewest, options_.most_splits_per_second);
  }

  void draw_costs() {
    for (std::size_t i = 0; i < model_.stages.size(); ++i) {
      StageModel& stage = model_.stages[i];
      stage.name = "stage" + std::to_string(i);
      stage.seconds = sampler_.log_uniform(1, 30);
      if (sampler_.chance(0.15)) stage.cpu = sampler_.uniform(0.4, 1);
    }
  }

  void draw_waiting() {
    for (std::uint32_t k = sampler_.whole(1, 2); k > 0; --k) {
      StageModel& stage = any_stage();
      stage.max_actors = sampler_.chance(0.5) ? 512 : sampler_.whole(128, 512);
      stage.cpu = sampler_.log_uniform(0.02, 0.3);
      // Bounded so that max_actors actors can keep up and use at most a third of the CPUs.
      const double most =
          std::min({1.5, 0.8 * stage.max_actors / rate_, model_.cpus / rate_ / (3 * stage.cpu)});
      stage.seconds = sampler_.log_uniform(std::min(0.1, most / 2), most);
    }
  }

  /// Scales the stages that do not wait so that they use up the remaining CPUs at the rate drawn.
  void scale_costs() {
    double left = model_.cpus / rate_;
    double drawn = 0;
    for (const StageModel& stage : model_.stages) {
      const double work = stage.seconds * stage.cpu;
      waits(stage) ? left -= work : drawn += work;
    }
    for (StageModel& stage : model_.stages) {
      if (!waits(stage)) stage.seconds *= left / drawn;
    }
  }

  void draw_contention() {
    for (std::uint32_t k = sampler_.whole(1, stages()); k > 0; --k) {
      StageModel& stage = any_stage();
      stage.alpha = sampler_.log_uniform(0.0005, waits(stage) ? 0.005 : 0.05);
      if (sampler_.chance(0.5))
        stage.beta = sampler_.log_uniform(1e-5, waits(stage) ? 1e-4 : 0.002);
    }
  }

  void draw_noise() {
    if (sampler_.chance(0.125)) return;
    const double level = sampler_.uniform(0.02, 1) * options_.most_noise;
    for (StageModel& stage : model_.stages) stage.noise = level * sampler_.uniform(0.3, 1);
  }

  void draw_bounds() {
    if (sampler_.chance(0.1)) {
      StageModel& stage = any_stage();  // Too few actors, or just enough.
      stage.max_actors = whole(1 + rate_ * stage.seconds * sampler_.uniform(0.3, 1.2));
    }
    if (!sampler_.chance(options_.rate_limited)) return;
    any_stage().max_rate =
        oracle_of(without_limits()).splits_per_second * sampler_.uniform(0.5, 1.3);
  }

  void draw_bytes() {
    model_.base_bytes = bytes(sampler_.log_uniform(512, 8192));
    const double level = sampler_.log_uniform(64, 512);
    for (StageModel& stage : model_.stages) {
      stage.bytes_per_actor = bytes(level * sampler_.log_uniform(0.3, 4));
      stage.bytes_out = bytes(sampler_.log_uniform(4, 192));
    }
  }

  void draw_memory() {
    const bool tight = sampler_.chance(options_.memory_tight);
    Allocation most = oracle_of(without_limits()).allocation;
    for (std::size_t i = 0; !tight && i < most.actors.size(); ++i) {
      most.actors[i] = std::min(model_.stages[i].max_actors, whole(model_.cpus));
    }
    most.prefetch = model_.prefetch_splits;
    const PipelineDescription description = description_of(model_);
    const auto wanted = static_cast<double>(worst_case_bytes(description, most)) *
                        (tight ? sampler_.uniform(0.55, 1.1) : sampler_.uniform(0.9, 2));
    const auto least =
        static_cast<double>(worst_case_bytes(description, one_each(description))) * kRoom;
    model_.memory_bytes = bytes(std::ceil(std::max(wanted, least) / kMiB));
  }

  void draw_trainer() {
    const double factor = sampler_.chance(options_.trainer_bound) ? sampler_.uniform(0.3, 0.9)
                                                                  : sampler_.uniform(1.1, 3);
    model_.trainer_step_seconds = 1 / (oracle_of(model_).splits_per_second * factor);
  }

  /// The model with unlimited memory and no trainer.
  PipelineModel without_limits() const {
    PipelineModel unlimited = model_;
    unlimited.memory_bytes = std::uint64_t{1} << 60;
    unlimited.trainer_step_seconds = 0;
    return unlimited;
  }

  static bool waits(const StageModel& stage) { return stage.cpu < 0.35; }
  static std::uint32_t whole(double number) { return static_cast<std::uint32_t>(number); }
  static std::uint64_t bytes(double mib) { return static_cast<std::uint64_t>(mib * kMiB); }
  std::uint32_t stages() const { return static_cast<std::uint32_t>(model_.stages.size()); }
  StageModel& any_stage() { return model_.stages[sampler_.whole(0, stages() - 1)]; }

  ValueSampler sampler_;
  const RandomPipelineOptions& options_;
  PipelineModel model_;
  double rate_ = 0;  // Splits/s that the CPUs alone allow.
};

}  // namespace

PipelineModel random_pipeline(std::uint64_t seed, const RandomPipelineOptions& options) {
  return PipelineSampler(seed, options).drawn();
}

}  // namespace forebay::tuner
