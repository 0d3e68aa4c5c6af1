#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tuner/allocation.h"
#include "tuner/plan/plan.h"
#include "tuner/sim/world_parts.h"

namespace forebay::tuner {

/// The cost of a stage of a modelled pipeline. Names and meaning as in the file format (README.md
/// here).
struct StageModel : StageCost {
  std::string name = {};
  double noise = 0;
  std::uint32_t max_actors = 128;
  std::uint64_t bytes_per_actor = 0;
  std::uint64_t bytes_out = 0;
  std::vector<ResourceUse> uses = {};
  std::optional<TailModel> tail = {};
  double start_seconds = 0;  ///< An actor starts so long before its first split, without a CPU.
  bool ordered = false;      ///< Last stage only: its splits leave in the order of their numbers.
};

/// A change at a moment, or a ramp from there on: of the stage, the node or the resource that is
/// set (at most one of them), else of all machines or the trainer.
struct ModelEvent {
  double at_seconds = 0;
  std::optional<std::size_t> stage = {};
  std::optional<double> seconds_factor = {};  ///< Factor for the file's `seconds`; not cumulative.
  std::optional<double> max_rate = {};
  std::optional<double> cpus = {};
  std::optional<std::uint64_t> memory_bytes = {};
  std::optional<double> trainer_step_seconds = {};
  double over_seconds = 0;  ///< The length of a straight ramp to the new value; 0: a step.
  std::optional<std::size_t> node = {};
  std::optional<std::string> resource = {};  ///< By name: on every node that has one of that name.
  std::optional<double> rate = {};           ///< Of the resource.
  std::optional<double> link_rate = {};
  std::optional<bool> present = {};  ///< False: the node is lost; true: it is back.
};

/// A pipeline described by its costs, without data. A value.
struct PipelineModel {
  std::string name = {};
  double cpus = 1;
  std::uint64_t memory_bytes = 0;
  std::uint64_t base_bytes = 0;
  std::uint64_t rows_per_split = 1;
  std::uint32_t queue_splits = 1;
  double trainer_step_seconds = 0;
  std::uint32_t prefetch_splits = 1;
  std::vector<StageModel> stages = {};
  std::vector<ModelEvent> events = {};  ///< By at_seconds.
  std::vector<ResourceModel> resources = {};
  std::vector<NodeModel> nodes = {};  ///< Empty: one node, of `cpus` and `memory_bytes`.
  std::optional<PauseModel> pause = {};
};

/// Whether the model says more than one plain machine can: resources, nodes, order, tails,
/// start-up, pauses or ramps (tuner/world). Without these it is what `Simulator` runs.
bool is_world(const PipelineModel& model);

/// The model without what ends with its start: start-up and events. A world that is none without
/// them has an exact oracle.
PipelineModel steady_part(const PipelineModel& model);

/// The part of a model that is declared to a tuner, without costs. `max_actors` in all is 0 (no
/// bound beyond the stages').
PipelineDescription description_of(const PipelineModel& model);

/// The model at a moment: every event up to and at `seconds` is applied, and no event is left.
PipelineModel model_at(const PipelineModel& model, double seconds);

/// The model's true costs, without its events (see model_at).
std::vector<StageCost> costs_of(const PipelineModel& model);

/// The most splits/s that the trainer takes; 0: unlimited.
double trainer_rate_of(const PipelineModel& model);

/// The best fixed allocation of the model without its events, with prefetch 1.
Plan oracle_of(const PipelineModel& model);

/// The largest seconds·cpu of a stage over their sum: 1/stages when balanced, near 1 when one stage
/// does nearly all the work. 0 if no stage needs a CPU.
double bottleneck_share(const PipelineModel& model);

}  // namespace forebay::tuner
