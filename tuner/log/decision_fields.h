#pragma once

#include <concepts>
#include <type_traits>

#include "tuner/log/decision_log.h"

namespace forebay::tuner {

/// Version of the format: raised when a key changes its name or meaning.
inline constexpr std::uint64_t kLogVersion = 3;

/// A value to read into or to write.
template <class T, class Value>
concept ListedAs = std::same_as<std::remove_const_t<T>, Value>;

/// Lists the keys of each value, in order, once for both directions: `Fields` either writes each
/// value under its key, or reads it. The wire has the same fields in the same order, without keys.

template <class Fields>
void list(Fields& fields, ListedAs<Allocation> auto& value) {
  fields("actors", value.actors);
  fields("prefetch", value.prefetch);
}

template <class Fields>
void list(Fields& fields, ListedAs<Limits> auto& value) {
  fields("cpus", value.cpus);
  fields("memory_bytes", value.memory_bytes);
}

template <class Fields>
void list(Fields& fields, ListedAs<StageDescription> auto& value) {
  fields("name", value.name);
  fields("max_actors", value.max_actors);
  fields("bytes_per_actor", value.bytes_per_actor);
  fields("least_actors", value.least_actors);
}

template <class Fields>
void list(Fields& fields, ListedAs<PipelineDescription> auto& value) {
  fields("stages", value.stages);
  fields("max_actors", value.max_actors);
  fields("max_prefetch", value.max_prefetch);
  fields("default_prefetch", value.default_prefetch);
  fields("prefetch_item_bytes", value.prefetch_item_bytes);
  fields("fixed_bytes", value.fixed_bytes);
  fields("rows_per_split", value.rows_per_split);
}

template <class Fields>
void list(Fields& fields, ListedAs<LogHeader> auto& value) {
  std::uint64_t version = kLogVersion;
  fields("forebay_decisions", version);
  fields("policy", value.policy);
  fields("command", value.command);
  fields("seed", value.seed);
  fields("layout", value.description);
  fields("limits", value.limits);
  fields("start", value.start);
  fields("weights", value.weights);
  fields("reward", value.reward);
  fields("restored", value.restored);
}

template <class Fields>
void list(Fields& fields, ListedAs<StageObservation> auto& value) {
  fields("actors", value.actors);
  fields("leaving", value.leaving);
  fields("actor_seconds", value.actor_seconds);
  fields("working_seconds", value.working_seconds);
  fields("input_wait_seconds", value.input_wait_seconds);
  fields("output_wait_seconds", value.output_wait_seconds);
  fields("cpu_seconds", value.cpu_seconds);
  fields("done", value.done);
  fields("done_seconds", value.done_seconds);
  fields("done_seconds_squared", value.done_seconds_squared);
  fields("done_cpu_seconds", value.done_cpu_seconds);
  fields("done_ready_seconds", value.done_ready_seconds);
  fields("done_actors", value.done_actors);
  fields("queue_fill", value.queue_fill);
  fields("queued_bytes", value.queued_bytes);
}

template <class Fields>
void list(Fields& fields, ListedAs<Observation> auto& value) {
  fields("at_seconds", value.at_seconds);
  fields("seconds", value.seconds);
  fields("limits", value.limits);
  fields("stages", value.stages);
  fields("trainer_steps", value.trainer_steps);
  fields("splits_per_item", value.splits_per_item);
  fields("trainer_step_seconds", value.trainer_step_seconds);
  fields("trainer_wait_seconds", value.trainer_wait_seconds);
  fields("other_cpu_seconds", value.other_cpu_seconds);
  fields("prefetch", value.prefetch);
  fields("prefetch_fill", value.prefetch_fill);
  fields("prefetch_full", value.prefetch_full);
  fields("prefetch_empty", value.prefetch_empty);
  fields("memory_bytes", value.memory_bytes);
  fields("memory_peak", value.memory_peak);
}

template <class Fields>
void list(Fields& fields, ListedAs<StageBelief> auto& value) {
  fields("seconds", value.seconds);
  fields("slow", value.slow);
  fields("cpu", value.cpu);
  fields("max_rate", value.max_rate);
  fields("rate", value.rate);
  fields("noise", value.noise);
  fields("doubt", value.doubt);
}

template <class Fields>
void list(Fields& fields, ListedAs<Beliefs> auto& value) {
  fields("stages", value.stages);
  fields("trainer_rate", value.trainer_rate);
  fields("cpus", value.cpus);
  fields("missing", value.missing);
  fields("outcome", value.outcome);
}

template <class Fields>
void list(Fields& fields, ListedAs<Proposal> auto& value) {
  fields("allocation", value.allocation);
  fields("expected_splits_per_second", value.expected_splits_per_second);
  fields("reason", value.reason);
  fields("beliefs", value.beliefs);
}

template <class Fields>
void list(Fields& fields, ListedAs<Decision> auto& value) {
  fields("number", value.number);
  fields("policy", value.policy);
  fields("seen", value.seen);
  fields("proposal", value.proposal);
  fields("applied", value.applied);
  fields("guarded", value.guarded);
  fields("fault", value.fault);
  fields("expected_before", value.expected_before);
  fields("measured", value.measured);
  fields("decide_seconds", value.decide_seconds);
}

}  // namespace forebay::tuner
