// The operators of a plan as written and as run, for commands that show it.

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "actors/transform/planned.h"
#include "actors/transform/transform.h"
#include "core/base/check.h"

namespace forebay {
namespace {

/// The end of the last stage: values that are still missing become 0.
constexpr const char* kZeroName = "missing to 0";

/// Adds the names that are not in the list yet.
void add_names(const std::vector<std::string>& names, std::vector<std::string>& list) {
  for (const std::string& name : names) {
    if (std::ranges::find(list, name) == list.end()) list.push_back(name);
  }
}

}  // namespace

std::vector<std::string> TransformPlan::written_columns(const StepFacts& facts) const {
  std::vector<std::string> names;
  for (const ColumnRef column : facts.writes) {
    names.push_back(column.kind == ColumnKind::kDense ? all_.dense[column.index]
                                                      : all_.sparse[column.index].name);
  }
  return names;
}

// Neighbours that are the same operators over other columns are one entry.
std::vector<TransformPlan::Entry> TransformPlan::entries() const {
  std::vector<Entry> entries;
  for (const StageInfo& stage : stages_) {
    if (stage.kind != StageInfo::Kind::kTransform) continue;
    const auto [begin, end] = steps_of(stage);
    for (std::size_t i = begin; i < end; ++i) {
      const bool is_same = i > begin && steps_[i].is_like(steps_[i - 1]) &&
                           steps_[i].place.group == steps_[i - 1].place.group;
      if (!is_same) entries.push_back({.stage = stage.name, .begin = i, .end = i});
      entries.back().end = i + 1;
    }
  }
  return entries;
}

PlannedStep TransformPlan::shown(const Entry& entry) const {
  PlannedStep step{.stage = entry.stage};
  if (steps_[entry.begin].place.group) step.stage = kDecodeStage;
  for (const Planned::Part& part : steps_[entry.begin].parts) {
    if (part.op) step.operators.push_back(*part.op);
    step.name += (step.name.empty() ? "" : ", ") + (part.op ? ops_[*part.op] : kZeroName);
  }
  for (std::size_t i = entry.begin; i < entry.end; ++i) {
    step.predicted += steps_[i].cost();
    add_names(written_columns(steps_[i].step->facts()), step.columns);
    if (const auto measured = steps_[i].meter->per_row()) {
      step.measured = step.measured.value_or(0) + *measured;
    }
  }
  return step;
}

std::vector<PlannedStep> TransformPlan::as_run() const {
  std::vector<PlannedStep> list;
  const std::vector<Entry> all = entries();
  list.reserve(all.size());
  for (const Entry& entry : all) list.push_back(shown(entry));
  return list;
}

void TransformPlan::recall(const std::vector<double>& nanoseconds) {
  constexpr std::uint64_t kRows = 10'000;  // counts like so many rows measured now
  const std::vector<Entry> list = entries();
  FOREBAY_CHECK(list.size() == nanoseconds.size());
  for (std::size_t n = 0; n < list.size(); ++n) {
    double all = 0;
    for (std::size_t i = list[n].begin; i < list[n].end; ++i) all += steps_[i].cost();
    for (std::size_t i = list[n].begin; i < list[n].end; ++i) {
      const double own = all > 0 ? nanoseconds[n] * steps_[i].cost() / all : 0;
      const auto cpu = static_cast<std::int64_t>(own * static_cast<double>(kRows));
      steps_[i].meter->add({.cpu = std::chrono::nanoseconds(cpu)}, kRows);
    }
  }
}

// Of a pass that several operators share, each has a part in proportion to the guesses.
void TransformPlan::add_to(PlannedStep& written, const Planned& planned, double cost) const {
  written.predicted += cost;
  add_names(written_columns(planned.step->facts()), written.columns);
  const auto measured = planned.meter->per_row();
  if (!measured) return;
  const double share = planned.cost() > 0 ? cost / planned.cost() : 0;
  written.measured = written.measured.value_or(0) + *measured * share;
}

std::vector<PlannedStep> TransformPlan::as_written() const {
  std::vector<PlannedStep> list;
  for (std::size_t op = 0; op < ops_.size(); ++op) {
    const auto stage = std::ranges::find_if(stages_, [&](const StageInfo& one) {
      return one.kind == StageInfo::Kind::kTransform && op >= one.first_op && op < one.end_op;
    });
    list.push_back({.operators = {op}, .name = ops_[op], .columns = {}, .stage = stage->name});
  }
  for (const Planned& planned : steps_) {
    for (const Planned::Part& part : planned.parts) {
      if (part.op) add_to(list[*part.op], planned, part.cost);
    }
  }
  return list;
}

std::vector<TransformPlan::OperatorTime> TransformPlan::operator_times() const {
  std::vector<OperatorTime> times;
  for (std::size_t op = 0; op < ops_.size(); ++op) {
    times.push_back({.name = names_[op], .number = op});
  }
  const auto part_of = [](const std::atomic<std::int64_t>& sum, double share) {
    const auto all = static_cast<double>(sum.load(std::memory_order_relaxed));
    return std::chrono::nanoseconds(static_cast<std::int64_t>(share * all));
  };
  for (const Planned& planned : steps_) {
    const double all = planned.cost();
    for (const Planned::Part& part : planned.parts) {
      if (!part.op) continue;
      const double share = planned.parts.size() == 1 ? 1 : all > 0 ? part.cost / all : 0;
      times[*part.op].time += part_of(planned.meter->passed, share);
      times[*part.op].cpu += part_of(planned.meter->nanoseconds, share);
    }
  }
  return times;
}

}  // namespace forebay
