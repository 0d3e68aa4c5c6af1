#include "engine/cluster/trainer_tuning.h"

#include <chrono>
#include <utility>

#include "core/runtime/ask.h"
#include "engine/cluster/node_logs.h"
#include "tuner/policy/policies.h"

namespace forebay {

using namespace std::chrono_literals;

// On the thread of the tuners' actor.
void TrainerTuning::log_central(const tuner::ClusterReport& seen,
                                const tuner::ClusterAdvice& advice) {
  workers_ = advice.workers;
  thread_advice_->advise(advice.threads);
  if (!central_log_) return;
  auto status = central_log_->add({.report = seen, .advice = advice});
  if (status) return;
  say_("the central tuner's decisions are not logged any more: " + status.error().message);
  central_log_.reset();
}

void TrainerTuning::start_central(NodeTuners::Options& options) {
  thread_advice_.emplace(clock_, job_.tuner.period);
  options.central = CentralTuner::Options{
      .period = job_.tuner.period,
      .own = kLocalNode,
      .on_decision = [this](const tuner::ClusterReport& seen, const tuner::ClusterAdvice& advice) {
        log_central(seen, advice);
      }};
  auto log = tuner::CentralLogWriter::create(central_log_path(job_.run.dir), command_);
  if (log) {
    central_log_ = std::move(*log);
  } else {
    say_("the central tuner's decisions are not logged: " + log.error().message);
  }
}

void TrainerTuning::start(NetworkEndpoint& net, const scheduler::HeadActor::Ref& head,
                          const std::string& work) {
  NodeTuners::Options options{.job = job_, .command = command_, .note = say_};
  if (head.receiver() != nullptr) {
    const std::string key = "tuner/" + job_.tuner.policy + "/" + work + "/";
    options.find = [head, key](const std::string& kind) {
      return ask(head, scheduler::FindLearnedState{key + kind}, 500ms).wait().value_or("");
    };
    options.keep = [head, key](const std::string& kind, const std::string& state) {
      static_cast<void>(head.tell(scheduler::SaveLearnedState{key + kind, state}));
    };
  }
  if (job_.tuner.policy == kCentralTuner) start_central(options);
  tuners_ = net.actors().spawn({.name = "tuners"},
                               [options] { return std::make_unique<NodeTuners>(options); });
  net.node().publish(std::string(kTunersName), TunersRef(tuners_));
}

// The central tuner does not plan with a node that makes no splits.
std::unique_ptr<tuner::Policy> TrainerTuning::central_policy(const tuner::PolicyContext& context) {
  if (job_.tuner.policy != kCentralTuner || !job_.cluster.local) return nullptr;
  auto own = tuner::make_policy("intune:no-network", context);
  return std::make_unique<CentralPolicy>(
      CentralPolicy::Options{.question = {.node = kLocalNode,
                                          .description = context.description,
                                          .limits = context.limits,
                                          .seen = {}},
                             .name = std::string(kCentralTuner),
                             .tuners = [this] { return TunersRef(tuners_); },
                             .own = own ? std::move(*own) : nullptr,
                             .link = {},
                             .obey = {},
                             .say = say_});
}

std::optional<std::uint32_t> TrainerTuning::workers() const {
  const std::int64_t workers = workers_;
  if (workers < 0) return std::nullopt;
  return static_cast<std::uint32_t>(workers);
}

// Nodes count what their stages pass on: parts, where splits are made in parts.
void TrainerTuning::tell(const JobRun& run, double taken) {
  const MeteredSource& source = run.source();
  const auto parts = static_cast<double>(run.pipeline().parts_of(0));
  static_cast<void>(
      tuners_.tell(TrainerSeen{.at = run.clock().now(),
                               .waited = source.waited(),
                               .paused = source.paused(),
                               .steps = source.steps(),
                               .worked = source.worked(),
                               .splits = taken * parts,
                               .threads = thread_advice_ ? thread_advice_->threads() : 0,
                               .most_threads = thread_advice_ ? thread_advice_->most() : 0}));
}

}  // namespace forebay
