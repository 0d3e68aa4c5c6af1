#pragma once

namespace forebay {

// The keys of each table of a pipeline file, for its reader and for its writer: `Fields` has
// needs(key, member, low, high) for a key that must be there and may(…) for one that need not.
// Ranges are so narrow that no sum over a pipeline overflows.

inline constexpr double kMostMemory = 0x1.0p60;
inline constexpr double kMostActorBytes = 0x1.0p44;  // 64 stages of 4096 such actors are 2⁶² bytes.
inline constexpr double kMostSplitBytes =
    0x1.0p40;  // 64 queues of 65536 such splits are 2⁶² bytes.
inline constexpr double kMostCpus = 65536;
inline constexpr double kMostActors = 4096;
inline constexpr double kLongest = 1e4;  // Seconds of a service or a step; far beyond any use.
inline constexpr double kShortest = 1e-6;
inline constexpr double kMostRate = 1e18;      // Units or bytes a second.
inline constexpr double kLeastMaxRate = 1e-6;  // Splits a second; 0 is no limit.
inline constexpr double kMostUnits = 1e15;     // Of a resource, for one split.

void machine_fields(auto& fields, auto& model) {
  fields.needs("name", model.name);
  fields.needs("cpus", model.cpus, 1, kMostCpus);
  fields.needs("memory_bytes", model.memory_bytes, 1, kMostMemory);
  fields.needs("base_bytes", model.base_bytes, 0, kMostMemory);
  fields.needs("rows_per_split", model.rows_per_split, 1, 1e9);
  fields.needs("queue_splits", model.queue_splits, 1, 65536);
}

void trainer_fields(auto& fields, auto& model) {
  fields.needs("step_seconds", model.trainer_step_seconds, kShortest, kLongest);
  fields.needs("prefetch_splits", model.prefetch_splits, 1, 1e6);
}

void stage_fields(auto& fields, auto& stage) {
  fields.needs("name", stage.name);
  fields.needs("seconds", stage.seconds, kShortest, kLongest);
  fields.may("cpu", stage.cpu, 0, 1);
  fields.may("alpha", stage.alpha, 0, 10);
  fields.may("beta", stage.beta, 0, 10);
  fields.may("noise", stage.noise, 0, 10);
  fields.may("max_rate", stage.max_rate, 0, 1e6);
  fields.may("max_actors", stage.max_actors, 1, kMostActors);
  fields.needs("bytes_per_actor", stage.bytes_per_actor, 0, kMostActorBytes);
  fields.needs("bytes_out", stage.bytes_out, 0, kMostSplitBytes);
  fields.seldom("start_seconds", stage.start_seconds, 0, kLongest);
  fields.seldom("ordered", stage.ordered);
}

void tail_fields(auto& fields, auto& tail) {
  fields.needs("share", tail.share, 0, 1);
  fields.needs("shape", tail.shape, 0.5, 100);
}

void pause_fields(auto& fields, auto& pause) {
  fields.needs("every", pause.every, 1e-3, 1e9);
  fields.needs("seconds", pause.seconds, 0, 1e9);
}

void node_fields(auto& fields, auto& node) {
  fields.needs("name", node.name);
  fields.needs("cpus", node.cpus, 1, kMostCpus);
  fields.needs("memory_bytes", node.memory_bytes, 1, kMostMemory);
  fields.may("seconds_factor", node.seconds_factor, 1e-3, 1e3);
  fields.seldom("link_rate", node.link_rate, 1, kMostRate);
  fields.seldom("trainer", node.trainer);
}

void resource_fields(auto& fields, auto& resource, auto& node) {
  fields.needs("name", resource.name);
  fields.needs("rate", resource.rate, 1e-3, kMostRate);
  fields.seldom("node", node);
}

/// An event of the stage that is called `stage`.
void stage_event_fields(auto& fields, auto& event, auto& stage) {
  fields.needs("at_seconds", event.at_seconds, 0, 1e9);
  fields.seldom("over_seconds", event.over_seconds, 0, 1e9);
  fields.needs("stage", stage);
  fields.may("seconds_factor", event.seconds_factor, 1e-3, 1e3);
  fields.may("max_rate", event.max_rate, 0, 1e6);
}

/// An event of the node that is called `node`.
void node_event_fields(auto& fields, auto& event, auto& node) {
  fields.needs("at_seconds", event.at_seconds, 0, 1e9);
  fields.seldom("over_seconds", event.over_seconds, 0, 1e9);
  fields.needs("node", node);
  fields.may("cpus", event.cpus, 1, kMostCpus);
  fields.may("memory_bytes", event.memory_bytes, 1, kMostMemory);
  fields.may("link_rate", event.link_rate, 1, kMostRate);
  fields.may("seconds_factor", event.seconds_factor, 1e-3, 1e3);
  fields.may("present", event.present);
}

/// An event of the resources that are called `resource`.
void resource_event_fields(auto& fields, auto& event, auto& resource) {
  fields.needs("at_seconds", event.at_seconds, 0, 1e9);
  fields.seldom("over_seconds", event.over_seconds, 0, 1e9);
  fields.needs("resource", resource);
  fields.may("rate", event.rate, 1e-3, kMostRate);
}

/// An event of all machines or the trainer.
void machine_event_fields(auto& fields, auto& event) {
  fields.needs("at_seconds", event.at_seconds, 0, 1e9);
  fields.seldom("over_seconds", event.over_seconds, 0, 1e9);
  fields.may("cpus", event.cpus, 1, kMostCpus);
  fields.may("memory_bytes", event.memory_bytes, 1, kMostMemory);
  fields.may("trainer_step_seconds", event.trainer_step_seconds, kShortest, kLongest);
}

}  // namespace forebay
