#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "core/runtime/stage_pool.h"
#include "core/runtime/synchronized.h"
#include "engine/emulated/modelled_trainer.h"
#include "tuner/emulated/emulated_pipeline.h"
#include "tuner/emulated/machine_thread.h"

namespace forebay {

/// The way from a node's last stage to the prefetch queue: over the node's link, if it has one, and
/// then to a place in the queue.
///
/// Splits on the link and those that wait behind it count on the node. An actor of the last stage
/// waits while the link is full; without a link it waits for the place itself. Held by a shared
/// pointer, since a split on the link returns to it; the machine and the trainer outlive it.
class NodeOutlet final : public tuner::Outlet, public std::enable_shared_from_this<NodeOutlet> {
 public:
  struct Options {
    std::size_t node = 0;
    bool trainers = false;          ///< The trainer's own node.
    std::uint32_t link_splits = 1;  ///< Most splits on the link or behind it.
    tuner::MachineThread& machine;
    ModelledTrainer& trainer;
    /// Called when a split has its place in the prefetch queue. On any thread, one call at a time,
    /// as the next; must not block.
    std::function<void(const MadeSplit&)> on_made;
    /// Called when a split has left the link.
    std::function<void()> on_move;
  };

  explicit NodeOutlet(Options options) : options_(std::move(options)) {}

  std::optional<double> take(const tuner::Split& split, PoolContext& context) override;
  std::uint32_t queued() const override;
  std::uint32_t limit() const override;
  void set_prefetch(std::uint32_t splits) override;

  /// Calls nothing any more once it has returned.
  void close();

  /// Seconds since the start in which an actor of the last stage waited for room here, by the
  /// machine's clock.
  double full_seconds() const;

 private:
  struct Link {
    std::uint32_t splits = 0;
    double left = 0;  // When the last split left it.
  };

  std::optional<double> take_link(const tuner::Split& split, PoolContext& context);
  std::optional<double> take_place(const tuner::Split& split, PoolContext& context);
  void ask_place(std::uint64_t number, double at);
  void leave_link(std::uint64_t number, double since);
  void tell_made(std::uint64_t number, double since);
  void count_waiting(int change);
  template <class State, class Ready>
  bool wait(Synchronized<State>& state, PoolContext& context, const Ready& ready);

  const Options options_;
  mutable Synchronized<Link> link_;
  Synchronized<> calls_;   // held while a callback runs
  bool closed_ = false;    // under calls_
  Synchronized<> serial_;  // guards the members below
  int waiting_ = 0;        // actors
  double waiting_since_ = 0;
  double full_seconds_ = 0;
};

}  // namespace forebay
