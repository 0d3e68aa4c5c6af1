#include <array>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/text/printable.h"
#include "core/base/whole_file.h"
#include "engine/cluster/central_tuner.h"
#include "engine/cluster/node_logs.h"
#include "engine/job/job_edit.h"
#include "engine/job/job_file.h"
#include "engine/outputs/job_files.h"
#include "engine/report/json_object.h"
#include "engine/run/tuning.h"
#include "tools/command/commands.h"
#include "tools/inspect/belief_words.h"
#include "tools/process/standard_streams.h"
#include "tuner/fused_stages.h"
#include "tuner/log/central_log.h"
#include "tuner/log/decision_log.h"
#include "tuner/policy/policies.h"

namespace forebay {
namespace {

using tuner::Decision;
using tuner::DecisionLog;
using tuner::PipelineDescription;
using tuner::Proposal;

/// Returns the log after telling the user if its last line was left out.
template <class Log>
Result<Log> noted(Result<Log> log, const std::string& place) {
  if (log && log->torn) print_message(place + ": the last line is torn and left out");
  return log;
}

/// Opens the log at `place`: a file, a job's `.forebay`, or a folder that contains it.
Result<DecisionLog> open_log(const std::string& place) {
  std::error_code error;
  if (!std::filesystem::is_directory(place, error)) {
    return noted(tuner::read_decision_log(place), place);
  }
  const std::string path = decision_log_path(run_folder_in(place), 0);
  auto log = noted(tuner::read_decision_log(path), path);
  if (!log && log.error().code == Code::kNotFound) {
    return fail(Code::kNotFound,
                "no run in " + place + " left a decision log; name one, or a job's folder");
  }
  return log;
}

std::string log_place_of(const Invocation& invocation) {
  return invocation.arguments.empty() ? "." : invocation.arguments.front();
}

Result<DecisionLog> open_log(const Invocation& invocation) {
  return open_log(log_place_of(invocation));
}

/// The decision logs of the last run's workers, by node: those written after the run before.
std::map<std::string, std::string> node_logs_in(const std::string& run_dir) {
  std::map<std::string, std::string> logs;
  std::error_code error;
  std::error_code none_before;
  const auto before = std::filesystem::last_write_time(decision_log_path(run_dir, 1), none_before);
  for (const auto& entry : std::filesystem::directory_iterator(run_dir, error)) {
    const auto node = node_of_log(entry.path().filename().string());
    if (!node || (!none_before && entry.last_write_time(error) <= before)) continue;
    logs[*node] = entry.path();
  }
  return logs;
}

JsonObject counts(const tuner::Allocation& allocation, const PipelineDescription& description) {
  JsonObject object;
  for (const auto& [group, actors] : tuner::groups_of(description, allocation)) {
    for (const std::string& stage : tuner::stages_in(group)) object.add(stage, actors);
  }
  return object.add("prefetch", allocation.prefetch);
}

JsonObject json_of(const Decision& decision, const PipelineDescription& description) {
  return JsonObject()
      .add("number", decision.number)
      .add("at_seconds", decision.seen.at_seconds)
      .add("policy", decision.policy)
      .add("splits_per_second", decision.measured)
      .add("rows_per_second", decision.measured * static_cast<double>(description.rows_per_split))
      .add("expected_splits_per_second", decision.expected_before)
      .add("proposed", counts(decision.proposal.allocation, description))
      .add("applied", counts(decision.applied, description))
      .add("reason", decision.proposal.reason)
      .add("guarded", decision.guarded)
      .add("fault", decision.fault)
      .add("outcome", decision.proposal.beliefs.outcome)
      .add("memory_bytes", decision.seen.memory_bytes)
      .add("decide_seconds", decision.decide_seconds);
}

void print(const Decision& decision, const PipelineDescription& description) {
  std::printf("%4llu %8.1f s %9.1f splits/s", static_cast<unsigned long long>(decision.number),
              decision.seen.at_seconds, decision.measured);
  if (decision.expected_before > 0) std::printf(" (expected %.1f)", decision.expected_before);
  print_line("  " + describe(decision, description));
  for (const std::string& change : decision.guarded) print_line("     guard: " + change);
  if (!decision.fault.empty()) print_line("     fault: " + decision.fault);
}

/// What the tuner believes after the last decision of a log, and what it tried.
struct Story {
  std::string node = {};  ///< Empty: the trainer's.
  std::uint64_t after = 0;
  std::vector<std::string> beliefs = {};
  std::vector<std::string> tries = {};
};

Story story_of(const DecisionLog& log, const std::string& node) {
  Story story{.node = node, .tries = try_words(log.decisions)};
  if (log.decisions.empty()) return story;
  story.after = log.decisions.back().number;
  story.beliefs = belief_words(log.decisions.back(), log.header.description);
  return story;
}

/// The stories of the run in a folder, of its trainer and of its workers; of the log that was
/// named.
std::vector<Story> stories_of(const DecisionLog& log, const std::string& place) {
  std::vector<Story> stories{story_of(log, "")};
  std::error_code error;
  if (!std::filesystem::is_directory(place, error)) return stories;
  for (const auto& [node, path] : node_logs_in(run_folder_in(place))) {
    if (auto found = tuner::read_decision_log(path)) stories.push_back(story_of(*found, node));
  }
  return stories;
}

JsonObject json_of(const Story& story) {
  return JsonObject()
      .add("node", story.node)
      .add("decision", story.after)
      .add("beliefs", story.beliefs)
      .add("tries", story.tries);
}

void print(const Story& story) {
  const std::string whose = story.node.empty() ? "" : " on " + printable(story.node);
  if (!story.beliefs.empty()) {
    print_line("after decision " + std::to_string(story.after) + " it believes" + whose + ":");
    for (const std::string& line : story.beliefs) print_line(line);
  }
  if (!story.tries.empty()) print_line("what it tried" + whose + ", and what came of it:");
  for (const std::string& line : story.tries) print_line(line);
}

void print(const DecisionLog& log) {
  const tuner::LogHeader& header = log.header;
  std::printf("%s, a run of %s on %.1f CPUs, from %s\n", printable(header.policy).c_str(),
              printable(header.command).c_str(), header.limits.cpus,
              printable(describe(header.start, header.description)).c_str());
  for (const Decision& decision : log.decisions) print(decision, header.description);
}

/// The groups of more than one stage.
std::vector<std::vector<std::string>> fused_groups(const PipelineDescription& description,
                                                   const tuner::Allocation& allocation) {
  std::vector<std::vector<std::string>> groups;
  for (const auto& group : tuner::groups_of(description, allocation)) {
    auto stages = tuner::stages_in(group.name);
    if (stages.size() > 1) groups.push_back(std::move(stages));
  }
  return groups;
}

Result<std::string> frozen(std::string text, const tuner::Allocation& allocation,
                           const PipelineDescription& description) {
  for (const auto& [group, actors] : tuner::groups_of(description, allocation)) {
    for (const std::string& stage : tuner::stages_in(group)) {
      auto edited = with_value(text, "pipeline.allocation", stage, std::to_string(actors));
      if (!edited) return edited;
      text = std::move(*edited);
    }
  }
  if (const auto groups = fused_groups(description, allocation); !groups.empty()) {
    auto edited = with_value(text, "pipeline", "fuse", to_toml(groups));
    if (!edited) return edited;
    text = std::move(*edited);
  }
  return with_value(text, "tuner", "mode", "\"off\"");
}

/// A decision that the policy would now take differently.
struct Difference {
  const Decision* logged;
  std::string now;
};

Result<std::unique_ptr<tuner::Policy>> policy_of(const tuner::LogHeader& header) {
  tuner::PolicyContext context;
  context.description = header.description;
  context.limits = header.limits;
  context.seed = header.seed;
  context.fixed = header.start;
  context.weights = header.weights;
  context.reward = tuner::reward_mode(header.reward);
  auto policy = tuner::make_policy(header.policy, context);
  if (policy && !header.restored.empty() && !(*policy)->restore(header.restored)) {
    return fail(Code::kInvalid, "policy " + header.policy +
                                    " does not take the experience it had at the log's start");
  }
  return policy;
}

std::string describe(const Proposal& proposal, const PipelineDescription& description) {
  std::array<char, 48> expected{};
  std::snprintf(expected.data(), expected.size(), " for %.6g splits/s",
                proposal.expected_splits_per_second);
  return forebay::describe(proposal.allocation, description) + expected.data();
}

bool same(const Proposal& a, const Proposal& b) {
  const double x = a.expected_splits_per_second;
  const double y = b.expected_splits_per_second;
  return a.allocation == b.allocation && (x == y || (std::isnan(x) && std::isnan(y)));
}

/// What a worker decided by itself the policy beside the trainer has not seen.
std::vector<Difference> replay(const DecisionLog& log, tuner::Policy& policy) {
  std::vector<Difference> differences;
  for (const Decision& decision : log.decisions) {
    if (tuner::made_alone(decision)) continue;
    const bool listened_to = decision.fault.empty();
    try {
      const Proposal now = policy.decide(decision.seen);
      if (listened_to && !same(now, decision.proposal)) {
        differences.push_back({&decision, describe(now, log.header.description)});
      }
    } catch (const std::exception& thrown) {
      if (listened_to) differences.push_back({&decision, std::string("fails: ") + thrown.what()});
    }
  }
  return differences;
}

/// The text of the central tuner's log at `place`; empty: that is another log, or a folder.
std::string central_text(const std::string& place) {
  constexpr std::size_t kMostLogBytes = std::size_t{1} << 30;
  std::error_code error;
  if (std::filesystem::is_directory(place, error)) return {};
  std::string text = read_whole(place, kMostLogBytes).value_or("");
  return tuner::is_central_log(text) ? text : "";
}

Exit show_central(const Invocation& invocation, const std::string& text) {
  const std::string place = log_place_of(invocation);
  const auto log = noted(tuner::parse_central_log(text, place), place);
  if (!log) return Exit::refused(log.error());
  const auto to_json = [](const tuner::CentralDecision& each) {
    return JsonObject()
        .add("number", each.advice.number)
        .add("at_seconds", each.report.at_seconds)
        .add("fed", each.advice.fed)
        .add("workers", each.advice.workers)
        .add("threads", each.advice.threads)
        .add("splits_per_second", each.advice.splits_per_second)
        .add("demand", each.advice.demand)
        .add("reason", each.advice.reason)
        .add("nodes", tuner::describe(each));
  };
  return print_result(
      invocation, JsonObject().add("policy", "central").add("decisions", log->decisions, to_json),
      [&] {
        for (const tuner::CentralDecision& decision : log->decisions) {
          for (const std::string& line : tuner::describe(decision)) print_line(line);
        }
      });
}

Exit replay_central(const Invocation& invocation, const std::string& path) {
  const auto log = noted(tuner::parse_central_log(central_text(path), path), path);
  if (!log) return Exit::refused(log.error());
  const auto differences = tuner::replay(*log);
  const auto to_json = [](const tuner::CentralDifference& each) {
    return JsonObject().add("number", each.number).add("logged", each.logged).add("now", each.now);
  };
  return print_result(
      invocation,
      JsonObject()
          .add("policy", "central")
          .add("decisions", log->decisions.size())
          .add("differences", differences, to_json),
      [&] {
        for (const tuner::CentralDifference& each : differences) {
          print_line(std::to_string(each.number) + " logged " + each.logged + "; now " + each.now);
        }
        std::printf("central would decide otherwise %zu times in %zu\n", differences.size(),
                    log->decisions.size());
      });
}

/// Only the log of the decisions for all nodes holds all that they rest on.
Exit replay_of_all_nodes(const Invocation& invocation, const std::string& place) {
  std::error_code error;
  if (std::filesystem::is_directory(place, error)) {
    return replay_central(invocation, central_log_path(run_folder_in(place)));
  }
  const std::string beside = std::filesystem::path(place).parent_path().string();
  return Exit::refused(place + ": the central tuner made these decisions; replay " +
                       central_log_path(beside.empty() ? "." : beside));
}

}  // namespace

Exit run_tune_show(const Invocation& invocation) {
  if (const std::string text = central_text(log_place_of(invocation)); !text.empty()) {
    return show_central(invocation, text);
  }
  auto log = open_log(invocation);
  if (!log) return Exit::refused(log.error());
  const PipelineDescription& description = log->header.description;
  const auto to_json = [&](const Decision& each) { return json_of(each, description); };
  const std::vector<Story> stories = stories_of(*log, log_place_of(invocation));
  return print_result(invocation,
                      JsonObject()
                          .add("policy", log->header.policy)
                          .add("start", counts(log->header.start, description))
                          .add("decisions", log->decisions, to_json)
                          .add("nodes", stories, [](const Story& story) { return json_of(story); }),
                      [&] {
                        print(*log);
                        for (const Story& story : stories) print(story);
                      });
}

Exit run_tune_freeze(const Invocation& invocation) {
  const std::string& path = invocation.arguments.front();
  auto job = open_job(invocation);
  if (!job) return Exit::refused(job.error());
  auto log = open_log(invocation.value("--log", job->run.dir));
  if (!log) return Exit::refused(log.error());
  if (log->decisions.empty()) return Exit::refused("the log holds no decision to freeze");
  const tuner::Allocation& last = log->decisions.back().applied;
  auto edited = frozen(job->source.text, last, log->header.description);
  if (!edited) return Exit::refused(path + ": " + edited.error().message);
  if (auto usable = open_job(invocation, *edited); !usable) {
    return Exit::refused("the log's allocation does not fit the job: " + usable.error().message);
  }
  // The user asks to change the job file itself, so only the temporary file is checked.
  const Output aside{.name = "JOB", .path = std::filesystem::canonical(path).string() + kAside};
  if (auto free = check_outputs({aside}, inputs_of(*job)); !free) {
    return Exit::refused(free.error());
  }
  if (auto status = replace_file(path, *edited); !status) return Exit::failed(status.error());
  const std::string words = describe(last, log->header.description);
  return print_result(invocation, JsonObject().add("job", path).add("allocation", words), [&] {
    std::printf("%s: pipeline.allocation is %s now, tuner.mode is off\n", path.c_str(),
                words.substr(0, words.rfind(", prefetch")).c_str());
  });
}

Exit run_tune_replay(const Invocation& invocation) {
  const std::string place = log_place_of(invocation);
  if (!central_text(place).empty()) return replay_central(invocation, place);
  auto log = open_log(invocation);
  if (!log) return Exit::refused(log.error());
  if (log->header.policy == kCentralTuner) return replay_of_all_nodes(invocation, place);
  auto policy = policy_of(log->header);
  if (!policy) return Exit::refused(policy.error());
  const auto differences = replay(*log, **policy);
  const auto logged = [&](const Difference& difference) {
    return describe(difference.logged->proposal, log->header.description);
  };
  const auto to_json = [&](const Difference& difference) {
    return JsonObject()
        .add("number", difference.logged->number)
        .add("logged", logged(difference))
        .add("now", difference.now);
  };
  const auto print_text = [&] {
    for (const Difference& difference : differences) {
      std::printf("%4llu logged %s; now %s\n",
                  static_cast<unsigned long long>(difference.logged->number),
                  printable(logged(difference)).c_str(), printable(difference.now).c_str());
    }
    std::printf("%s would decide otherwise %zu times in %zu\n",
                printable(log->header.policy).c_str(), differences.size(), log->decisions.size());
  };
  return print_result(invocation,
                      JsonObject()
                          .add("policy", log->header.policy)
                          .add("decisions", log->decisions.size())
                          .add("differences", differences, to_json),
                      print_text);
}

}  // namespace forebay
