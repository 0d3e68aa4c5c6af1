#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "core/runtime/actor.h"
#include "core/runtime/timer_queue.h"
#include "tuner/policy.h"
#include "tuner/tuner.h"

namespace forebay::tuner {

/// Owner → tuner: the run begins. The actor uses the tuned pipeline from here on.
struct BeginTuning {
  static constexpr std::string_view kTag = "tuner.begin/1";
};

/// User → tuner: the mode from now on.
struct SetMode {
  static constexpr std::string_view kTag = "tuner.set_mode/1";
  Mode mode = Mode::kOn;
};

/// Tuner → itself: the next step is due.
struct StepDue {
  static constexpr std::string_view kTag = "tuner.step_due/1";
};

/// The state of a tuner. A value.
struct TunerStatus {
  Mode mode = Mode::kOn;
  std::optional<Decision> last;  ///< The most recent decision.
  double seconds = 0;            ///< Since it began.
  double cpu_seconds = 0;        ///< CPU time spent on observing, deciding and applying since then.
};

/// Any actor → tuner: asks for the TunerStatus.
struct AskTunerStatus {
  static constexpr std::string_view kTag = "tuner.ask_status/1";
  using Reply = TunerStatus;
};

/// The tuner as an actor: steps ten times a second, decides once a period.
///
/// Decisions fall on whole periods since the begin. A late decision (a slow policy, a busy machine)
/// is taken as soon as possible; the decisions whose times it overran are skipped, so that they do
/// not pile up. Owns its Tuner, which is made and used on the actor's own thread; the tuned
/// pipeline must outlive the actor. Time is the host's clock. `ref.stop()` ends it between two
/// steps. A tuned pipeline that throws crashes the actor; with restarts allowed it continues with a
/// fresh Tuner after another BeginTuning.
class TunerActor final : public ActorOf<TunerActor, BeginTuning, SetMode, StepDue, AskTunerStatus> {
 public:
  using Time = std::chrono::nanoseconds;
  static constexpr Time kStep = std::chrono::milliseconds(100);

  struct Options {
    std::function<std::unique_ptr<Tuner>()> make_tuner;
    Time period = std::chrono::seconds(2);  ///< At least kStep.
    /// While false the tuned pipeline is away, and nothing is decided; empty: it always is there.
    std::function<bool()> present = {};
  };

  explicit TunerActor(const Options& options);
  ~TunerActor() override;
  TunerActor(const TunerActor&) = delete;
  TunerActor& operator=(const TunerActor&) = delete;

  Status on(const BeginTuning&, Context& context);
  Status on(const SetMode& order, Context&);
  Status on(const StepDue&, Context& context);
  Result<TunerStatus> on(const AskTunerStatus&, Context& context);

 private:
  bool is_present() const { return !present_ || present_(); }
  void wait_for_next_step(Context& context);
  Time since_begin(const Context& context) const;

  const Time period_;
  const std::function<bool()> present_;
  const std::unique_ptr<Tuner> tuner_;
  TimerQueue* timers_ = nullptr;  // the host's; set by BeginTuning, as those below
  TimerQueue::Key step_key_;
  Time begin_{0};
  Time next_decision_{0};  // since begin_
  Time cpu_{0};
  std::optional<Decision> last_;
};

/// Spawns a tuner on a thread of its own and begins tuning. `host`: an ActorSystem or an ActorHost.
template <class Host>
TunerActor::Ref start_tuner(Host& host, TunerActor::Options options) {
  auto tuner =
      host.spawn({.name = "tuner", .placement = Placement::kOwnThread},
                 [options = std::move(options)] { return std::make_unique<TunerActor>(options); });
  static_cast<void>(tuner.tell(BeginTuning{}));  // Cannot fail: the mailbox is empty.
  return tuner;
}

}  // namespace forebay::tuner
