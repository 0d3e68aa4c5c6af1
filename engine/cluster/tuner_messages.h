#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/runtime/actor_ref.h"
#include "core/wire/codec.h"
#include "tuner/log/decision_fields.h"
#include "tuner/policy.h"

namespace forebay {

// Wire format of the tuner's values; the tuner itself does not depend on the network. As in all
// messages, fields are append-only.

/// A visitor of a value's listed fields that does nothing with them.
struct NoVisitor {
  void operator()(const char*, const auto&) const {}
};

template <class T>
concept ListedByTuner = requires(NoVisitor& fields, T& value) {
  tuner::list(fields, value);
};

template <ListedByTuner T>
struct WireField<T> {
  static std::size_t count_of(const T& value) {
    std::size_t count = 0;
    const auto add = [&](const char*, const auto&) { ++count; };
    tuner::list(add, value);
    return count;
  }
  static void write(Encoder& encoder, const T& value) {
    encoder.array(count_of(value));
    const auto add = [&](const char*, const auto& field) { write_field(encoder, field); };
    tuner::list(add, value);
  }
  static bool read(Decoder& decoder, T& value) {
    std::size_t count = 0;
    if (!decoder.array(count)) return false;
    if (count != count_of(value)) return decoder.refuse("has other fields");
    bool read = true;
    const auto take = [&](const char*, auto& field) { read = read && read_field(decoder, field); };
    tuner::list(take, value);
    return read;
  }
};

/// What a node knows of its link to the trainer.
struct LinkSeen {
  double blocked = 0;           ///< The share of time in which made splits waited for the link.
  std::uint32_t way = 0;        ///< How it sends now, as a Compression; an index of the two below.
  std::vector<double> ratios;   ///< Bytes of a plain split over those sent; empty: not tried.
  std::vector<double> seconds;  ///< CPU seconds that packing a split costs.
  static auto fields(auto& self) {
    return std::tie(self.blocked, self.way, self.ratios, self.seconds);
  }
};

/// Advice for a node. Absolute: the same advice twice changes nothing.
struct Advised {
  tuner::Proposal proposal;
  bool fed = true;           ///< False: the node asks for no splits.
  bool sets_way = false;     ///< Whether `way` counts, or the node decides how it sends.
  std::uint32_t way = 0;     ///< As LinkSeen.
  std::uint64_t number = 0;  ///< Of the decision for the whole cluster; 0: there is none.
  static auto fields(auto& self) {
    return std::tie(self.proposal, self.fed, self.sets_way, self.way, self.number);
  }
};

/// Node → trainer's tuners: asks for a decision, with the node's machine and observation. The first
/// message of a node creates its policy.
struct AskDecision {
  static constexpr std::string_view kTag = "cluster.ask_decision/4";
  using Reply = Advised;
  std::string node;
  tuner::PipelineDescription description;
  tuner::Limits limits;
  tuner::Observation seen;
  LinkSeen link = {};
  static auto fields(auto& self) {
    return std::tie(self.node, self.description, self.limits, self.seen, self.link);
  }
};

/// Node → trainer's tuners: what the node applied and measured, for the log.
struct DecisionTaken {
  static constexpr std::string_view kTag = "cluster.decision_taken/2";
  std::string node;
  tuner::Decision decision;
  static auto fields(auto& self) { return std::tie(self.node, self.decision); }
};

using TunersRef = ActorRef<AskDecision, DecisionTaken>;

/// Trainer node → its own tuners: sums since the run's start of what the trainer did.
struct TrainerSeen {
  static constexpr std::string_view kTag = "cluster.trainer_seen/2";
  std::chrono::nanoseconds at{0};
  std::chrono::nanoseconds waited{0};  ///< For data.
  std::chrono::nanoseconds paused{0};  ///< For checkpoints and evaluation.
  std::uint64_t steps = 0;             ///< That have ended.
  std::chrono::nanoseconds worked{0};  ///< On these steps.
  double splits = 0;                   ///< Of which it took the rows.
  std::uint32_t threads = 0;           ///< Of its model, now; 0: not known.
  std::uint32_t most_threads = 0;      ///< Its model may have so many; 0: they may not be changed.
};

}  // namespace forebay
