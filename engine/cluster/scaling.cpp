#include "engine/cluster/scaling.h"

#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "core/base/clock.h"
#include "core/base/open_files.h"
#include "core/base/thread/start_thread.h"

namespace forebay {
namespace {

constexpr std::uint32_t kMostWorkers = 1024;

scheduler::Autoscaler::Options options_of(const ClusterSpec& cluster) {
  scheduler::Autoscaler::Options options;
  options.least = static_cast<std::uint32_t>(cluster.min_workers);
  options.most =
      cluster.max_workers > 0 ? static_cast<std::uint32_t>(cluster.max_workers) : kMostWorkers;
  return options;
}

/// Describes a failed command's status from wait(2).
std::string ending_of(int status) {
  if (status == -1) return "could not be started";
  if (WIFSIGNALED(status)) return "was ended by signal " + std::to_string(WTERMSIG(status));
  return "ended with exit status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

Scaling::Scaling(const JobSpec& job, Say say)
    : command_(job.cluster.scale),
      period_(std::max<std::chrono::nanoseconds>(job.tuner.period, std::chrono::seconds(1))),
      say_(std::move(say)),
      autoscaler_(options_of(job.cluster)) {}

void Scaling::look(const scheduler::ClusterStatus& status, const Taken& now,
                   const std::string& local_node) {
  if (!before_) before_ = now;
  const double seconds = in_seconds(now.at - before_->at);
  if (now.at - before_->at < period_) return;
  scheduler::ScaleInput input;
  input.trained = static_cast<double>(now.splits - before_->splits) / seconds;
  input.starved_ratio = std::clamp(in_seconds(now.waited - before_->waited) / seconds, 0.0, 1.0);
  input.worker_rate = status.mean_worker_rate;
  for (const scheduler::NodeStatus& node : status.nodes) {
    if (node.name == local_node) {
      input.local_rate = node.rate;
    } else {
      ++input.workers;
    }
  }
  before_ = now;
  const scheduler::ScaleDecision decision = autoscaler_.decide(input);
  const auto wanted = static_cast<std::int64_t>(decision.workers);
  if (wanted_.exchange(wanted) == wanted || command_.empty()) return;
  if (decision.workers == input.workers) return;
  ask_for(decision);
}

std::optional<std::uint32_t> Scaling::wanted() const {
  const std::int64_t wanted = wanted_;
  if (wanted < 0) return std::nullopt;
  return static_cast<std::uint32_t>(wanted);
}

// The command comes from the user's job file; a shell interprets it as written.
void Scaling::ask_for(const scheduler::ScaleDecision& decision) {
  if (asking_.exchange(true)) {
    wanted_ = -1;  // Decide again when the command has ended.
    return;
  }
  say_(decision.why);
  const std::string line = command_ + " " + std::to_string(decision.workers);
  const auto run = [this, line] {
    const std::string script = with_first_descriptor_limit(line);
    const int status = std::system(script.c_str());  // NOLINT(cert-env33-c)
    if (status != 0) say_("cluster.scale: \"" + line + "\" " + ending_of(status));
    asking_ = false;
  };
  try {
    asker_ = std::make_unique<Thread>(Thread::Options{.name = "scale"}, run);
  } catch (const NoThread& none) {
    say_("cluster.scale: " + std::string(none.what()));
    asking_ = false;
  }
}

}  // namespace forebay
