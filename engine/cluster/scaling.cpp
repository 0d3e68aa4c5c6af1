#include "engine/cluster/scaling.h"

#include <sys/wait.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/base/clock.h"
#include "core/base/open_files.h"
#include "core/base/thread/start_thread.h"
#include "core/base/whole_file.h"

namespace forebay {
namespace {

constexpr std::uint32_t kMostWorkers = 1024;
/// Between a command that failed and the next one with the same number.
constexpr std::chrono::minutes kAskAgain(1);

/// Reads the number of workers that an earlier run needed; 0: there is none.
std::uint32_t needed_in(const std::string& path) {
  constexpr std::size_t kMostBytes = 16;
  if (path.empty()) return 0;
  const std::string text = read_whole(path, kMostBytes).value_or("");
  std::uint32_t needed = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), needed);
  return parsed.ec == std::errc() ? std::min(needed, kMostWorkers) : 0;
}

scheduler::Autoscaler::Options options_of(const ClusterSpec& cluster, std::uint32_t needed) {
  scheduler::Autoscaler::Options options;
  // Without stages of its own a trainer needs a worker, however little it takes.
  const std::uint32_t fewest = cluster.local ? 0 : 1;
  options.least = std::max(static_cast<std::uint32_t>(cluster.min_workers), fewest);
  options.most =
      cluster.max_workers > 0 ? static_cast<std::uint32_t>(cluster.max_workers) : kMostWorkers;
  options.start = needed;
  return options;
}

/// Describes a failed command's status from wait(2).
std::string ending_of(int status) {
  if (status == -1) return "could not be started";
  if (WIFSIGNALED(status)) return "was ended by signal " + std::to_string(WTERMSIG(status));
  return "ended with exit status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

Scaling::Scaling(const JobSpec& job, std::string needed_path, Say say)
    : command_(job.cluster.scale),
      period_(std::max<std::chrono::nanoseconds>(job.tuner.period, std::chrono::seconds(1))),
      needed_path_(std::move(needed_path)),
      say_(std::move(say)),
      autoscaler_(options_of(job.cluster, needed_in(needed_path_))),
      least_(options_of(job.cluster, 0).least),
      most_(options_of(job.cluster, 0).most),
      kept_(needed_in(needed_path_)) {}

// A worker counts as making splits when it has delivered its first; one that was refused does not
// count at all.
scheduler::ScaleInput Scaling::input_of(const scheduler::ClusterStatus& status, const Taken& now,
                                        const std::string& local_node) {
  const double seconds = in_seconds(now.at - before_->at);
  const double paused = in_seconds(now.paused - before_->paused);
  scheduler::ScaleInput input{.seconds = std::max(0.0, seconds - paused)};
  input.taken = std::max(0.0, now.splits - before_->splits);
  input.arrived = static_cast<double>(now.arrived - before_->arrived);
  input.waited = std::clamp(in_seconds(now.waited - before_->waited), 0.0, input.seconds);
  std::map<std::uint64_t, std::uint64_t> made;
  for (const scheduler::NodeStatus& node : status.nodes) {
    if (node.state == scheduler::NodeStatus::State::kRefused) continue;
    made[node.incarnation] = node.splits_done;
    const auto earlier = made_.find(node.incarnation);
    const std::uint64_t from = earlier == made_.end() ? 0 : earlier->second;
    const double rate = static_cast<double>(node.splits_done - std::min(from, node.splits_done)) /
                        std::max(seconds, 1e-3);
    if (node.name == local_node) {
      input.local_rate = rate;
    } else if (node.splits_done == 0) {
      ++input.joining;
    } else {
      input.workers.push_back(
          {.id = node.incarnation, .rate = rate, .could_make = node.could_make, .busy = node.busy});
    }
  }
  made_ = std::move(made);
  return input;
}

void Scaling::look(const scheduler::ClusterStatus& status, const Taken& now,
                   const std::string& local_node, std::uint32_t central) {
  if (!before_) {
    before_ = now;
    for (const scheduler::NodeStatus& node : status.nodes) {
      made_[node.incarnation] = node.splits_done;
    }
  }
  if (now.at - before_->at < period_) return;
  const scheduler::ScaleInput input = input_of(status, now, local_node);
  before_ = now;
  scheduler::ScaleDecision decision = autoscaler_.decide(input);
  if (central > 0) {
    decision.workers = std::clamp(central, least_, most_);
    decision.why = "the central tuner wants " + std::to_string(decision.workers) + " workers";
  }
  wanted_ = decision.workers;
  keep_needed();
  if (command_.empty() || asking_) return;
  if (!asked_) asked_ = static_cast<std::uint32_t>(input.workers.size()) + input.joining;
  const bool failed = failed_ && now.at >= ask_again_;
  if (decision.workers != *asked_ || decision.again || failed) ask_for(decision, now.at);
}

std::optional<std::uint32_t> Scaling::wanted() const {
  const std::int64_t wanted = wanted_;
  if (wanted < 0) return std::nullopt;
  return static_cast<std::uint32_t>(wanted);
}

// A file that cannot be written costs the next run some periods.
void Scaling::keep_needed() {
  const std::uint32_t needed = autoscaler_.needed();
  if (needed_path_.empty() || command_.empty() || needed == 0 || needed == kept_) return;
  kept_ = needed;
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(needed_path_).parent_path(), ignored);
  static_cast<void>(replace_whole(needed_path_, std::to_string(needed) + "\n", Sync::kNo));
}

// The command comes from the user's job file; a shell interprets it as written.
void Scaling::ask_for(const scheduler::ScaleDecision& decision, std::chrono::nanoseconds now) {
  asking_ = true;
  asked_ = decision.workers;
  ask_again_ = now + kAskAgain;
  failed_ = false;
  say_(decision.why);
  const std::string line = command_ + " " + std::to_string(decision.workers);
  const auto run = [this, line] {
    const std::string script = with_first_descriptor_limit(line);
    const int status = std::system(script.c_str());  // NOLINT(cert-env33-c)
    if (status != 0) say_("cluster.scale: \"" + line + "\" " + ending_of(status));
    failed_ = status != 0;
    asking_ = false;
  };
  try {
    asker_ = std::make_unique<Thread>(Thread::Options{.name = "scale"}, run);
  } catch (const NoThread& none) {
    say_("cluster.scale: " + std::string(none.what()));
    failed_ = true;
    asking_ = false;
  }
}

}  // namespace forebay
