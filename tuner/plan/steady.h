#pragma once

#include <span>

#include "tuner/allocation.h"
#include "tuner/plan/cost.h"

namespace forebay::tuner {

/// The machine's limit: splits/s that `cpus` CPUs complete with these actors.
double machine_rate(std::span<const StageCost> costs, std::span<const std::uint32_t> actors,
                    double cpus);

/// Noise-free steady throughput in splits/s: the least of the trainer's, every stage's and the
/// machine's. `trainer_rate` 0: no trainer.
double steady_rate(std::span<const StageCost> costs, std::span<const std::uint32_t> actors,
                   double cpus, double trainer_rate);

}  // namespace forebay::tuner
