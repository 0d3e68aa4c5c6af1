#pragma once

#include <string>
#include <string_view>
#include <tuple>

#include "core/runtime/actor_ref.h"
#include "core/wire/codec.h"
#include "tuner/decision.h"

namespace forebay {

// Wire format of the tuner's values; the tuner itself does not depend on the network. As in all
// messages, fields are append-only.

template <class T>
struct WireOfTuner {
  static void write(Encoder& encoder, const T& value) {
    const auto all = WireField<T>::tie(value);
    encoder.array(std::tuple_size_v<decltype(all)>);
    std::apply([&](const auto&... field) { (write_field(encoder, field), ...); }, all);
  }
  static bool read(Decoder& decoder, T& value) {
    std::size_t count = 0;
    if (!decoder.array(count)) return false;
    auto all = WireField<T>::tie(value);
    if (count != std::tuple_size_v<decltype(all)>) return decoder.refuse("has other fields");
    return std::apply([&](auto&... field) { return (read_field(decoder, field) && ...); }, all);
  }
};

template <>
struct WireField<tuner::Limits> : WireOfTuner<tuner::Limits> {
  static auto tie(auto& self) { return std::tie(self.cpus, self.memory_bytes); }
};

template <>
struct WireField<tuner::StageDescription> : WireOfTuner<tuner::StageDescription> {
  static auto tie(auto& self) { return std::tie(self.name, self.max_actors, self.bytes_per_actor); }
};

template <>
struct WireField<tuner::PipelineDescription> : WireOfTuner<tuner::PipelineDescription> {
  static auto tie(auto& self) {
    return std::tie(self.stages, self.max_actors, self.max_prefetch, self.default_prefetch,
                    self.prefetch_item_bytes, self.fixed_bytes, self.rows_per_split);
  }
};

template <>
struct WireField<tuner::Allocation> : WireOfTuner<tuner::Allocation> {
  static auto tie(auto& self) { return std::tie(self.actors, self.prefetch); }
};

template <>
struct WireField<tuner::StageObservation> : WireOfTuner<tuner::StageObservation> {
  static auto tie(auto& self) {
    return std::tie(self.actors, self.leaving, self.actor_seconds, self.working_seconds,
                    self.input_wait_seconds, self.output_wait_seconds, self.cpu_seconds, self.done,
                    self.done_seconds, self.done_seconds_squared, self.done_cpu_seconds,
                    self.done_ready_seconds, self.done_actors, self.queue_fill, self.queued_bytes);
  }
};

template <>
struct WireField<tuner::Observation> : WireOfTuner<tuner::Observation> {
  static auto tie(auto& self) {
    return std::tie(self.at_seconds, self.seconds, self.limits, self.stages, self.trainer_steps,
                    self.splits_per_item, self.trainer_step_seconds, self.trainer_wait_seconds,
                    self.other_cpu_seconds, self.prefetch, self.prefetch_fill, self.prefetch_full,
                    self.prefetch_empty, self.memory_bytes, self.memory_peak);
  }
};

template <>
struct WireField<tuner::Proposal> : WireOfTuner<tuner::Proposal> {
  static auto tie(auto& self) {
    return std::tie(self.allocation, self.expected_splits_per_second, self.reason);
  }
};

template <>
struct WireField<tuner::Decision> : WireOfTuner<tuner::Decision> {
  static auto tie(auto& self) {
    return std::tie(self.number, self.policy, self.seen, self.proposal, self.applied, self.guarded,
                    self.fault, self.expected_before, self.measured, self.decide_seconds);
  }
};

/// Worker → trainer's tuners: asks for a decision, with the worker's machine and observation. The
/// first message of a node creates its policy.
struct AskDecision {
  static constexpr std::string_view kTag = "cluster.ask_decision/1";
  using Reply = tuner::Proposal;
  std::string node;
  tuner::PipelineDescription description;
  tuner::Limits limits;
  tuner::Observation seen;
  static auto fields(auto& self) {
    return std::tie(self.node, self.description, self.limits, self.seen);
  }
};

/// Worker → trainer's tuners: what the worker applied and measured, for the log.
struct DecisionTaken {
  static constexpr std::string_view kTag = "cluster.decision_taken/1";
  std::string node;
  tuner::Decision decision;
  static auto fields(auto& self) { return std::tie(self.node, self.decision); }
};

using TunersRef = ActorRef<AskDecision, DecisionTaken>;

}  // namespace forebay
