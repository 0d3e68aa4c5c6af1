#include "tools/inspect/decision_report.h"

#include <algorithm>

#include "engine/job/quantity.h"
#include "engine/run/decision_text.h"
#include "tuner/log/decision_log.h"

namespace forebay {

bool is_decision_log(std::string_view begin) {
  return begin.starts_with("{\"forebay_decisions\":");
}

Result<FileReport> report_decisions(const std::string& path) {
  auto log = tuner::read_decision_log(path);
  if (!log) return pass(log);
  const auto& decisions = log->decisions;
  const auto faults = std::count_if(decisions.begin(), decisions.end(),
                                    [](const auto& decision) { return !decision.fault.empty(); });
  const tuner::Allocation& last = decisions.empty() ? log->header.start : decisions.back().applied;
  FileReport report;
  report.title = "decision log, " + format_count(decisions.size()) + " decisions of " +
                 log->header.policy + " in a run of " + log->header.command;
  report.lines = {"from " + describe(log->header.start, log->header.description),
                  "to " + describe(last, log->header.description),
                  format_count(static_cast<std::uint64_t>(faults)) +
                      " times the policy was not listened to; forebay tune show has all of them"};
  report.json.add("path", path)
      .add("kind", "decisions")
      .add("policy", log->header.policy)
      .add("decisions", decisions.size())
      .add("faults", faults);
  return report;
}

}  // namespace forebay
