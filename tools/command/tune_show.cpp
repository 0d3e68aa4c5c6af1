#include <cstdio>

#include "core/base/printable.h"
#include "engine/report/json_object.h"
#include "engine/run/decision_text.h"
#include "tools/command/commands.h"
#include "tools/command/tune_log.h"
#include "tools/process/message.h"
#include "tools/terminal/print_json.h"

namespace forebay {
namespace {

using tuner::Decision;
using tuner::PipelineDescription;

JsonObject counts(const tuner::Allocation& allocation, const PipelineDescription& description) {
  JsonObject object;
  for (std::size_t i = 0; i < allocation.actors.size() && i < description.stages.size(); ++i) {
    object.add(description.stages[i].name, allocation.actors[i]);
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

}  // namespace

Exit run_tune_show(const Invocation& invocation) {
  const auto& given = invocation.arguments;
  auto log = open_log(given.empty() ? "." : given.front());
  if (!log) return Exit::refused(log.error());
  const PipelineDescription& description = log->header.description;
  if (invocation.has("--json")) {
    std::vector<JsonObject> decisions;
    for (const Decision& decision : log->decisions)
      decisions.push_back(json_of(decision, description));
    print_json(JsonObject()
                   .add("policy", log->header.policy)
                   .add("start", counts(log->header.start, description))
                   .add("decisions", decisions));
    return Exit::done();
  }
  std::printf("%s, a run of %s on %.1f CPUs, from %s\n", printable(log->header.policy).c_str(),
              printable(log->header.command).c_str(), log->header.limits.cpus,
              printable(describe(log->header.start, description)).c_str());
  for (const Decision& decision : log->decisions) print(decision, description);
  return Exit::done();
}

}  // namespace forebay
