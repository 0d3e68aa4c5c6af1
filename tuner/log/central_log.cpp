#include "tuner/log/central_log.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "tuner/cluster/cluster_planner.h"
#include "tuner/log/decision_fields.h"
#include "tuner/log/json_line.h"
#include "tuner/policy.h"

namespace forebay::tuner {

/// Fields of the central tuner's values, as decision_fields.h lists those of one node.
template <class Fields>
void list_flag(Fields& fields, const char* name, bool& value) {
  std::uint32_t flag = value ? 1 : 0;
  fields(name, flag);
  value = flag != 0;
}

template <class Fields>
void list(Fields& fields, TrainerReport& value) {
  fields("seconds", value.seconds);
  fields("waited_seconds", value.waited_seconds);
  fields("paused_seconds", value.paused_seconds);
  fields("able", value.able);
  fields("threads", value.threads);
  fields("most_threads", value.most_threads);
}

template <class Fields>
void list(Fields& fields, LinkWay& value) {
  fields("ratio", value.ratio);
  fields("seconds", value.seconds);
}

template <class Fields>
void list(Fields& fields, NodeReport& value) {
  fields("name", value.name);
  list_flag(fields, "trainer", value.trainer);
  list_flag(fields, "fresh", value.fresh);
  fields("layout", value.description);
  fields("limits", value.limits);
  fields("seen", value.seen);
  fields("blocked", value.blocked);
  fields("way", value.way);
  fields("ways", value.ways);
}

template <class Fields>
void list(Fields& fields, NodeAdvice& value) {
  fields("allocation", value.allocation);
  list_flag(fields, "fed", value.fed);
  fields("way", value.way);
  fields("splits_per_second", value.splits_per_second);
}

template <class Fields>
void list(Fields& fields, CentralDecision& value) {
  fields("number", value.advice.number);
  fields("at_seconds", value.report.at_seconds);
  fields("trainer", value.report.trainer);
  fields("nodes", value.report.nodes);
  fields("advice", value.advice.nodes);
  fields("fed", value.advice.fed);
  fields("workers", value.advice.workers);
  fields("threads", value.advice.threads);
  fields("splits_per_second", value.advice.splits_per_second);
  fields("demand", value.advice.demand);
  fields("reason", value.advice.reason);
}

namespace {

constexpr std::uint64_t kCentralVersion = 3;
constexpr const char* kCentralKey = "forebay_central";
constexpr const char* kNoCentralLog = "this is no central tuner's log";

/// The first line.
struct CentralHeader {
  std::uint64_t version = kCentralVersion;
  std::string command;
};

template <class Fields>
void list(Fields& fields, CentralHeader& value) {
  fields(kCentralKey, value.version);
  fields("command", value.command);
}

/// What would not fit the planner.
std::string misfit_of(const CentralDecision& decision) {
  const auto& nodes = decision.report.nodes;
  if (decision.advice.nodes.size() != nodes.size()) return "advice: not one for each node";
  for (const NodeReport& node : nodes) {
    const std::size_t stages = nodes.front().description.stages.size();
    if (node.description.stages.size() != stages || node.seen.stages.size() != stages) {
      return "nodes: not the same stages";
    }
    if (!can_be_planned(node.description, node.limits)) {
      return "nodes: " + node.name + ": no stages, actors, CPUs or memory";
    }
  }
  return {};
}

std::string told(const NodeAdvice& advice) {
  std::string text = advice.fed ? "fed," : "not fed,";
  for (const std::uint32_t actors : advice.allocation.actors) text += " " + std::to_string(actors);
  text += ", prefetch " + std::to_string(advice.allocation.prefetch);
  if (advice.way > 0) text += ", compression " + std::to_string(advice.way);
  return text;
}

/// Of the trainer's model.
std::string told_threads(std::uint32_t threads) {
  return threads == 0 ? "keeps its own threads" : "threads " + std::to_string(threads);
}

std::string with_rate(const std::string& text, double rate) {
  std::array<char, 48> number{};
  std::snprintf(number.data(), number.size(), " for %.1f splits/s", rate);
  return text + number.data();
}

}  // namespace

Result<CentralLogWriter> CentralLogWriter::create(const std::string& path,
                                                  const std::string& command) {
  auto lines = LineLog::create(path);
  if (!lines) return pass(lines);
  CentralLogWriter writer(std::move(*lines));
  const CentralHeader header{.version = kCentralVersion, .command = command};
  if (auto status = writer.lines_.add(line_of(header)); !status) return pass(status);
  return writer;
}

std::string CentralLogWriter::to_line(const CentralDecision& decision) { return line_of(decision); }

bool is_central_log(std::string_view text) {
  return text.starts_with(std::string("{\"") + kCentralKey + "\"");
}

Result<CentralLog> parse_central_log(std::string_view text, const std::string& name) {
  CentralLog log;
  const auto read = [&log](std::string_view line, bool first) -> std::string {
    if (first) {
      if (!is_central_log(line)) return kNoCentralLog;
      CentralHeader header;
      const std::string problem = read_line(line, header);
      log.command = header.command;
      const bool other = header.version != kCentralVersion;
      return problem.empty() && other ? "is of another version" : problem;
    }
    CentralDecision decision;
    std::string problem = read_line(line, decision);
    if (!problem.empty()) return problem;
    log.decisions.push_back(std::move(decision));
    return misfit_of(log.decisions.back());
  };
  auto torn = read_lines(text, name, kNoCentralLog, read);
  if (!torn) return pass(torn);
  log.torn = *torn;
  return log;
}

std::vector<CentralDifference> replay(const CentralLog& log) {
  std::vector<CentralDifference> differences;
  ClusterPlanner planner;
  for (const CentralDecision& decision : log.decisions) {
    const ClusterAdvice now = planner.decide(decision.report);
    if (now.threads != decision.advice.threads) {
      differences.push_back({decision.advice.number,
                             "model: " + told_threads(decision.advice.threads),
                             told_threads(now.threads)});
    }
    for (std::size_t k = 0; k < now.nodes.size(); ++k) {
      const NodeAdvice& before = decision.advice.nodes[k];
      if (told(before) == told(now.nodes[k])) continue;
      differences.push_back({decision.advice.number,
                             decision.report.nodes[k].name + ": " + told(before),
                             told(now.nodes[k])});
    }
  }
  return differences;
}

std::vector<std::string> describe(const CentralDecision& decision) {
  std::vector<std::string> lines = {
      with_rate(decision.advice.reason, decision.advice.splits_per_second)};
  if (decision.advice.threads > 0) {
    lines.push_back("     model: " + told_threads(decision.advice.threads) + " of at most " +
                    std::to_string(decision.report.trainer.most_threads));
  }
  for (std::size_t k = 0; k < decision.report.nodes.size(); ++k) {
    const NodeAdvice& advice = decision.advice.nodes[k];
    lines.push_back(with_rate("     " + decision.report.nodes[k].name + ": " + told(advice),
                              advice.splits_per_second));
  }
  return lines;
}

}  // namespace forebay::tuner
