#include "engine/plan/plan_report.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/text/number.h"
#include "core/base/whole_file.h"

namespace forebay {
namespace {

constexpr std::string_view kKind = "forebay-plan 1\n";
/// Many times the size of the longest plan.
constexpr std::size_t kMostBytes = std::size_t{64} << 20;
/// More than any operator takes, a day for a row.
constexpr double kMostNanoseconds = 86400e9;

JsonObject to_json(const PlannedStep& step) {
  return JsonObject()
      .add("op", step.name)
      .add("operators", step.operators)
      .add("columns", step.columns)
      .add("stage", step.stage)
      .add("predicted_ns", step.predicted)
      .add("measured_ns", step.measured);
}

/// Describes what an entry does, so that costs are never taken for those of another one.
std::string line_of(const PlannedStep& step) {
  std::string line = step.stage + '\t' + step.name;
  for (const std::string& name : step.columns) line += '\t' + name;
  std::ranges::replace(line, '\n', ' ');
  return line;
}

std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

bool read_cost(std::string_view text, double& cost) {
  cost = parse_number<double>(text).value_or(-1);
  return cost >= 0 && cost <= kMostNanoseconds;
}

/// The costs in `text`, if it is of these entries.
std::vector<double> costs_of(std::string_view text, const std::vector<PlannedStep>& entries) {
  std::vector<double> costs;
  for (const PlannedStep& entry : entries) {
    double cost = 0;
    const bool is_own = take_line(text) == line_of(entry);
    if (!read_cost(take_line(text), cost) || !is_own) return {};
    costs.push_back(cost);
  }
  return text.empty() ? costs : std::vector<double>();
}

}  // namespace

JsonObject plan_json(const TransformPlan& plan) {
  return JsonObject()
      .add("as_written", plan.as_written(), to_json)
      .add("as_run", plan.as_run(), to_json);
}

std::string plan_costs_path(const std::string& run_dir) { return run_dir + "/plan"; }

Status keep_plan_costs(const std::string& path, const TransformPlan& plan) {
  std::string text(kKind);
  const std::vector<PlannedStep> entries = plan.as_run();
  for (const PlannedStep& entry : entries) {
    if (!entry.measured) return {};
    text += line_of(entry) + '\n' + std::to_string(*entry.measured) + '\n';
  }
  return entries.empty() ? Status{} : replace_whole(path, text, Sync::kNo);
}

void recall_plan_costs(const std::string& path, TransformPlan& plan) {
  const std::vector<PlannedStep> entries = plan.as_run();
  const auto text = read_whole(path, kMostBytes);
  if (entries.empty() || !text || !text->starts_with(kKind)) return;
  const std::vector<double> costs = costs_of(std::string_view(*text).substr(kKind.size()), entries);
  if (!costs.empty()) plan.recall(costs);
}

}  // namespace forebay
