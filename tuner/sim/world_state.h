#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "tuner/sim/pipeline_model.h"

namespace forebay::tuner {

/// What a world's costs and limits are at a moment, as its events change them, ramps included.
///
/// Its nodes are never empty: a file without any has one, without a name.
class WorldState {
 public:
  static constexpr double kRampStep = 0.125;  ///< Seconds; a ramp moves in such steps.

  explicit WorldState(const PipelineModel& file);

  /// Applies every event up to and at `seconds` and moves the ramps on; never goes back.
  void move_to(double seconds);
  /// When something changes next: an event, or a ramp's next step; infinity: nothing does.
  double next_change() const;
  const PipelineModel& now() const { return now_; }

 private:
  enum class Key : std::uint8_t {
    kStageSeconds,
    kMaxRate,
    kCpus,
    kMemory,
    kLinkRate,
    kNodeSeconds,
    kResourceRate,
    kStep
  };
  /// A number of the state that is on its way.
  struct Ramp {
    Key key;
    std::size_t index;
    double from;
    double to;
    double begin;
    double over;
  };

  void obey(const ModelEvent& event);
  void obey_stage(const ModelEvent& event);
  void obey_node(const ModelEvent& event, std::size_t node);
  void change(const ModelEvent& event, Key key, std::size_t index, double to);
  void move_ramps(double seconds);
  double get(Key key, std::size_t index) const;
  void set(Key key, std::size_t index, double value);

  std::vector<ModelEvent> events_;
  PipelineModel now_;
  std::vector<double> file_seconds_;  // Of each stage.
  std::vector<Ramp> ramps_;
  std::size_t events_seen_ = 0;
  double moved_to_ = -std::numeric_limits<double>::infinity();
};

/// model_at() of a world.
PipelineModel world_at(const PipelineModel& model, double seconds);

}  // namespace forebay::tuner
