// An actor that holds a part of a model's parameters, and its messages.
#pragma once

#include <string_view>
#include <tuple>
#include <vector>

#include <forebay/cluster.h>

// The state of a shard. As a message it replaces the state.
struct ShardState {
  static constexpr std::string_view kTag = "parameter_server/state";
  std::uint64_t steps = 0;  // whose gradients the values include
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

struct Shard : forebay::actors::Actor<Shard, ShardState, Push, Pull> {
  explicit Shard(std::uint64_t dimension) { state.values.resize(dimension); }
  void on(const ShardState& from) { state = from; }
  forebay::actors::Status on(const Push& push) {
    if (push.step <= state.steps) return {};
    if (push.step != state.steps + 1 || push.gradient.size() != state.values.size()) {
      return forebay::actors::Error{{}, "not the next step, or of another size"};
    }
    for (std::size_t i = 0; i < state.values.size(); ++i) state.values[i] += push.gradient[i];
    state.steps = push.step;
    return {};
  }
  ShardState on(const Pull&) { return state; }
  ShardState state;
};
