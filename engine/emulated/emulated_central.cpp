#include "engine/emulated/emulated_central.h"

#include <functional>
#include <utility>

#include "core/runtime/actor.h"
#include "tuner/world/world_sums.h"

namespace forebay {
namespace {

std::chrono::nanoseconds from_seconds(double seconds) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(seconds));
}

/// Answers the nodes, each time with what the trainer has done by then.
class CentralActor final : public ActorOf<CentralActor, AskDecision, DecisionTaken> {
 public:
  CentralActor(CentralTuner::Options options, std::function<TrainerSeen()> trainer)
      : central_(std::move(options)), trainer_(std::move(trainer)) {}

  Result<Advised> on(const AskDecision& ask, Context& context) {
    central_.observe(trainer_());
    return central_.advise(ask, context.clock().now());
  }
  Status on(const DecisionTaken&, Context&) { return {}; }

 private:
  CentralTuner central_;
  const std::function<TrainerSeen()> trainer_;
};

}  // namespace

TunersRef start_central(ActorSystem& system, WorldMachine& machine,
                        const CentralTuner::Options& options) {
  const auto trainer = [&machine] {
    return TrainerSeen{.at = from_seconds(machine.now()),
                       .waited = from_seconds(machine.trained().wait_seconds),
                       .paused = from_seconds(machine.paused_seconds())};
  };
  return system.spawn({.name = "central", .placement = Placement::kOwnThread}, [options, trainer] {
    return std::make_unique<CentralActor>(options, trainer);
  });
}

std::unique_ptr<tuner::Policy> central_policy_of(std::size_t node, WorldMachine& machine,
                                                 const tuner::PipelineModel& model,
                                                 const TunersRef& tuners,
                                                 std::unique_ptr<tuner::Policy> own) {
  return std::make_unique<CentralPolicy>(CentralPolicy::Options{
      .question = {.node = model.nodes[node].name,
                   .description = machine.description_of(node),
                   .limits = machine.current_of(node).limits,
                   .seen = {}},
      .name = std::string(kCentralTuner),
      .tuners = [tuners] { return tuners; },
      .own = std::move(own),
      .link =
          [](const tuner::Observation& seen) {
            return LinkSeen{.blocked = tuner::blocked_share(seen), .ratios = {}, .seconds = {}};
          },
      .obey = [&machine, node](const Advised& told) { machine.set_fed(node, told.fed); }});
}

}  // namespace forebay
