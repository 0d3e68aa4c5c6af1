// An actor that holds a part of a model's parameters, and its messages.
#pragma once

#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <forebay/cluster.h>

namespace fa = forebay::actors;

constexpr std::uint64_t kKeepEvery = 10;  // steps

// The state of a shard.
struct ShardState {
  std::uint64_t steps = 0;  // the last one in the values
  std::vector<double> values;
  static auto fields(auto& self) { return std::tie(self.steps, self.values); }
};

// Adds the gradient of one step. A step that came before is ignored, so it may be sent again.
struct Push {
  static constexpr std::string_view kTag = "parameter_server/push";
  std::uint64_t step = 0;
  std::vector<double> gradient;
  static auto fields(auto& self) { return std::tie(self.step, self.gradient); }
};

struct Pull {
  static constexpr std::string_view kTag = "parameter_server/pull";
  using Reply = ShardState;
  static auto fields(auto&) { return std::tie(); }
};

struct Shard : fa::Actor<Shard, Push, Pull> {
  explicit Shard(std::uint64_t dimension) { state.values.resize(dimension); }
  ShardState save() const { return state; }
  void load(ShardState kept) { state = std::move(kept); }
  fa::Status on(const Push& push, fa::Context& context) {
    if (push.step <= state.steps) return {};
    if (push.step != state.steps + 1 || push.gradient.size() != state.values.size()) {
      return fa::Error{{}, "not the next step, or of another size"};
    }
    for (std::size_t i = 0; i < state.values.size(); ++i) state.values[i] += push.gradient[i];
    state.steps = push.step;
    // If the head cannot be reached now, the shard goes on from an older state elsewhere.
    if (state.steps % kKeepEvery == 0) keep(context);
    return {};
  }
  ShardState on(const Pull&) { return state; }
  ShardState state;
};
