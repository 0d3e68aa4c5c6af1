#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>

#include "core/runtime/actor_ref.h"
#include "core/wire/codec.h"
#include "tuner/log/decision_fields.h"

namespace forebay {

// Wire format of the tuner's values; the tuner itself does not depend on the network. As in all
// messages, fields are append-only.

/// The visitors of a value's listed fields: count, write and read them.
struct FieldCount {
  std::size_t count = 0;
  void operator()(const char*, const auto&) { ++count; }
};
struct FieldEncoder {
  Encoder& encoder;
  void operator()(const char*, const auto& field) { write_field(encoder, field); }
};
struct FieldDecoder {
  Decoder& decoder;
  bool read = true;
  void operator()(const char*, auto& field) { read = read && read_field(decoder, field); }
};

template <class T>
concept ListedByTuner = requires(FieldCount& fields, T& value) {
  tuner::list(fields, value);
};

template <ListedByTuner T>
struct WireField<T> {
  static std::size_t count_of(const T& value) {
    FieldCount fields;
    tuner::list(fields, value);
    return fields.count;
  }
  static void write(Encoder& encoder, const T& value) {
    encoder.array(count_of(value));
    FieldEncoder fields{encoder};
    tuner::list(fields, value);
  }
  static bool read(Decoder& decoder, T& value) {
    std::size_t count = 0;
    if (!decoder.array(count)) return false;
    if (count != count_of(value)) return decoder.refuse("has other fields");
    FieldDecoder fields{decoder};
    tuner::list(fields, value);
    return fields.read;
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
