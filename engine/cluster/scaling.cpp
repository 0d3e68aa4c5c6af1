#include "engine/cluster/scaling.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/base/clock.h"
#include "core/base/text/counted.h"
#include "core/base/text/number.h"
#include "core/base/whole_file.h"

namespace forebay {
namespace {

constexpr std::uint32_t kMostWorkers = 1024;
/// Between a command that failed and the next one with the same number.
constexpr std::chrono::minutes kAskAgain(1);
/// After which a command that still runs is reported.
constexpr std::chrono::minutes kLongCommand(1);

/// Reads the number of workers that an earlier run needed; 0: there is none.
std::uint32_t needed_in(const std::string& path) {
  constexpr std::size_t kMostBytes = 16;
  if (path.empty()) return 0;
  const std::string text = read_whole(path, kMostBytes).value_or("");
  return std::min(leading_number<std::uint32_t>(text).value_or(0), kMostWorkers);
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

Scaling::~Scaling() {
  if (!running_ || running_->ending_within(ShellCommand::kGrace)) return;
  running_->end();
  say_about_command("still ran at the end of the run and was ended");
}

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

// The central tuner sees only the nodes that are here: a worker that died is replaced, as the
// autoscaler does it. Those that are not fed make nothing.
scheduler::ScaleDecision Scaling::as_told(std::uint32_t central,
                                          const scheduler::ScaleInput& input) {
  const std::uint32_t workers = std::clamp(central, least_, most_);
  if (std::exchange(told_, workers) != workers) missing_.begin();
  const auto here = static_cast<std::uint32_t>(input.workers.size()) + input.joining;
  const std::string number = format_counted(workers, "worker");
  if (missing_.again(workers, here, input.seconds)) {
    return {workers, std::to_string(here) + " of " + number + " are here", true};
  }
  return {workers, "the central tuner wants " + number, false};
}

void Scaling::look(const scheduler::ClusterStatus& status, const Taken& now,
                   const std::string& local_node, std::optional<std::uint32_t> central) {
  look_at_command(now.at);
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
  if (central) decision = as_told(*central, input);
  wanted_ = decision.workers;
  keep_needed();
  if (command_.empty() || running_) return;
  if (!asked_) asked_ = static_cast<std::uint32_t>(input.workers.size()) + input.joining;
  if (decision.workers == *asked_ && !decision.again) {
    if (!failed_ || now.at - asked_at_ < kAskAgain) return;
    decision.why =
        "asks again for " + format_counted(decision.workers, "worker") + ": the command failed";
  }
  ask_for(decision, now.at);
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

void Scaling::say_about_command(const std::string& what) {
  say_("cluster.scale: \"" + line_ + "\" " + what);
}

// The command comes from the user's job file; a shell interprets it as written.
void Scaling::ask_for(const scheduler::ScaleDecision& decision, std::chrono::nanoseconds now) {
  asked_ = decision.workers;
  asked_at_ = now;
  line_ = command_ + " " + std::to_string(decision.workers);
  say_(decision.why);
  Result<ShellCommand> started = ShellCommand::start(line_);
  failed_ = !started;
  is_long_ = false;
  if (started) {
    running_.emplace(std::move(*started));
  } else {
    say_about_command(started.error().message);
  }
}

void Scaling::look_at_command(std::chrono::nanoseconds now) {
  if (!running_) return;
  if (const auto ending = running_->ending()) {
    running_.reset();
    failed_ = !ending->succeeded;
    if (failed_) say_about_command(ending->text);
  } else if (now - asked_at_ >= kLongCommand && !std::exchange(is_long_, true)) {
    say_about_command("has run for a minute; no other number is asked for until it ends");
  }
}

}  // namespace forebay
