#include "engine/modelled/pipeline_rules.h"

#include <array>
#include <cstdio>

namespace forebay {
namespace {

using enum PipelineKey::Kind;

constexpr double kMostMemory = 0x1.0p60;
constexpr double kMostActorBytes = 0x1.0p44;  // 64 stages of 4096 such actors are 2⁶² bytes.
constexpr double kMostSplitBytes = 0x1.0p40;  // 64 queues of 65536 such splits are 2⁶² bytes.
constexpr double kMostCpus = 65536;
constexpr double kMostActors = 4096;
constexpr double kLongest = 1e4;  // Seconds of a service or a step; far beyond any use.
constexpr double kShortest = 1e-6;

constexpr std::array kPipeline = {
    PipelineKey{"name", kText, 0, 0, true},
    PipelineKey{"cpus", kNumber, 1, kMostCpus, true},
    PipelineKey{"memory_bytes", kWhole, 1, kMostMemory, true},
    PipelineKey{"base_bytes", kWhole, 0, kMostMemory, true},
    PipelineKey{"rows_per_split", kWhole, 1, 1e9, true},
    PipelineKey{"queue_splits", kWhole, 1, 65536, true},
};
constexpr std::array kTrainer = {
    PipelineKey{"step_seconds", kNumber, kShortest, kLongest, true},
    PipelineKey{"prefetch_splits", kWhole, 1, 1e6, true},
};
constexpr std::array kStage = {
    PipelineKey{"name", kText, 0, 0, true},
    PipelineKey{"seconds", kNumber, kShortest, kLongest, true},
    PipelineKey{"cpu", kNumber, 0, 1},
    PipelineKey{"alpha", kNumber, 0, 10},
    PipelineKey{"beta", kNumber, 0, 10},
    PipelineKey{"noise", kNumber, 0, 10},
    PipelineKey{"max_rate", kNumber, 0, 1e6},
    PipelineKey{"max_actors", kWhole, 1, kMostActors},
    PipelineKey{"bytes_per_actor", kWhole, 0, kMostActorBytes, true},
    PipelineKey{"bytes_out", kWhole, 0, kMostSplitBytes, true},
};
constexpr std::array kStageEvent = {
    PipelineKey{"at_seconds", kNumber, 0, 1e9, true},
    PipelineKey{"stage", kText, 0, 0, true},
    PipelineKey{"seconds_factor", kNumber, 1e-3, 1e3},
    PipelineKey{"max_rate", kNumber, 0, 1e6},
};
constexpr std::array kMachineEvent = {
    PipelineKey{"at_seconds", kNumber, 0, 1e9, true},
    PipelineKey{"cpus", kNumber, 1, kMostCpus},
    PipelineKey{"memory_bytes", kWhole, 1, kMostMemory},
    PipelineKey{"trainer_step_seconds", kNumber, kShortest, kLongest},
};

}  // namespace

std::span<const PipelineKey> pipeline_keys() { return kPipeline; }
std::span<const PipelineKey> trainer_keys() { return kTrainer; }
std::span<const PipelineKey> stage_keys() { return kStage; }
std::span<const PipelineKey> stage_event_keys() { return kStageEvent; }
std::span<const PipelineKey> machine_event_keys() { return kMachineEvent; }

std::string describe_wanted(const PipelineKey& key) {
  if (key.kind == kText) return "a name: text of 1 to 200 characters without control characters";
  char text[100];
  if (key.kind == kWhole) {
    std::snprintf(text, sizeof text, "a whole number from %.0f to %.0f", key.low, key.high);
  } else {
    std::snprintf(text, sizeof text, "a number from %g to %g", key.low, key.high);
  }
  return text;
}

}  // namespace forebay
