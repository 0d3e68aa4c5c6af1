#include "engine/analyze/limiting_part.h"

#include <algorithm>
#include <array>

#include "core/base/clock.h"
#include "engine/job/quantity.h"
#include "engine/run/tuned_stages.h"

namespace forebay {
namespace {

using Kind = WhatIf::Kind;

constexpr double kNearlyAlways = 0.9;
constexpr double kAllCpus = 0.9;
constexpr double kBusy = 0.6;
constexpr double kFull = 0.85;
constexpr double kSomeGain = 1.02;
constexpr std::size_t kAdvice = 3;

std::string largest_user_of_cpus(const std::vector<Piece>& pieces) {
  std::array<double, kParts> cpu{};
  for (const Piece& piece : pieces) cpu[static_cast<std::size_t>(piece.part)] += piece.cpu;
  const auto most = std::ranges::max_element(cpu) - cpu.begin();
  return std::string(name_of(static_cast<Part>(most)));
}

bool takes_away(const WhatIf& what_if) {
  return what_if.kind == Kind::kHalfCpus || what_if.kind == Kind::kHalfMemory;
}

std::string times(double gain) { return format_number(gain, 2) + " × the rows"; }

std::string sentence_of(const WhatIf& what_if, double rows_per_second) {
  const double gain = rows_per_second > 0 ? what_if.rows_per_second / rows_per_second : 1;
  const std::string rate =
      format_count(static_cast<std::uint64_t>(std::max(0.0, what_if.rows_per_second))) + " rows/s";
  if (takes_away(what_if)) return what_if.change + " is enough: " + rate;
  if (gain < kSomeGain) return what_if.change + ": brings nothing";
  return what_if.change + ": " + times(gain) + ", " + rate;
}

}  // namespace

Usage usage_of(const RunSample& before, const RunSample& now, const StageList& stages,
               double cpus) {
  const double seconds = std::max(1e-9, in_seconds(now.at - before.at));
  Usage usage;
  const double worked = in_seconds(now.worked - before.worked);
  const double waited = in_seconds(now.waited - before.waited);
  if (worked + waited > 0) usage.trainer = worked / (worked + waited);
  double wanted = now.cpu_seconds - before.cpu_seconds;
  for (std::size_t i = 0; i < now.pipeline.stages.size(); ++i) {
    const auto seen = observation_of(before.pipeline.stages[i].pool, now.pipeline.stages[i].pool);
    wanted += seen.done_ready_seconds;
    const double busy = seen.actor_seconds > 0 ? seen.working_seconds / seen.actor_seconds : 0;
    if (busy <= usage.stage) continue;
    usage.stage = busy;
    usage.busiest = now.pipeline.stages[i].name;
    usage.stage_cpu = seen.working_seconds > 0 ? seen.cpu_seconds / seen.working_seconds : 1;
    const bool job_stage = i < stages.size();
    usage.busiest_part = job_stage ? part_of(stages[i]) : Part::kHandOver;
  }
  usage.cpus = wanted / (std::max(1.0, cpus) * seconds);
  if (now.pipeline.window_capacity > 0) {
    usage.window = static_cast<double>(now.pipeline.window_bytes) /
                   static_cast<double>(now.pipeline.window_capacity);
  }
  return usage;
}

LimitingPart limiting_part_of(const Usage& usage, const std::vector<Piece>& pieces) {
  const auto percent = [](double share) { return format_percent(std::min(1.0, share)); };
  double stages_cpu = 0;
  double link = 0;
  for (const Piece& piece : pieces) {
    stages_cpu += piece.cpu;
    if (piece.part == Part::kLink) link += piece.busy;
  }
  if (usage.trainer >= kNearlyAlways) {
    return {"trainer", "the trainer limits the job: it had a batch " + percent(usage.trainer) +
                           " of the time"};
  }
  if (usage.cpus >= kAllCpus && stages_cpu > 0) {
    const std::string part = largest_user_of_cpus(pieces);
    return {part, part +
                      " limits the job: all CPUs are used up, and it takes most of them; the "
                      "trainer waits " +
                      percent(1 - usage.trainer) + " of the time"};
  }
  if (usage.stage < kBusy && link > 0) {
    return {"link", "the link to the workers limits the job: no stage here is busy"};
  }
  if (usage.stage < kBusy && usage.window >= kFull) {
    return {"memory", "memory limits the job: no stage is busy, and " + percent(usage.window) +
                          " of the bytes for splits are in use; raise pipeline.memory"};
  }
  const std::string part(name_of(usage.busiest_part));
  const std::string how = usage.stage_cpu < 0.5 ? "mostly waiting" : "mostly on a CPU";
  return {part, part + " limits the job: the actors of " + usage.busiest + " work " +
                    percent(usage.stage) + " of the time, " + how};
}

std::vector<std::string> advice_of(const std::vector<WhatIf>& what_ifs, double rows_per_second) {
  std::vector<const WhatIf*> gains;
  std::vector<const WhatIf*> savings;
  for (const WhatIf& each : what_ifs) {
    const bool same = each.rows_per_second * kSomeGain >= rows_per_second;
    if (!takes_away(each)) gains.push_back(&each);
    if (takes_away(each) && same) savings.push_back(&each);
  }
  std::ranges::stable_sort(gains, std::ranges::greater(), &WhatIf::rows_per_second);
  const auto little = [&](const WhatIf* each) {
    return each->rows_per_second < kSomeGain * rows_per_second;
  };
  // What brings nothing comes behind what saves something.
  const auto end = std::ranges::find_if(gains, little);
  gains.insert(end, savings.begin(), savings.end());
  std::vector<std::string> advice;
  for (const WhatIf* each : gains) {
    if (advice.size() == kAdvice) break;
    advice.push_back(sentence_of(*each, rows_per_second));
  }
  return advice;
}

}  // namespace forebay
