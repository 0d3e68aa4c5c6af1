#include "engine/analyze/limiting_part.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/clock.h"
#include "engine/job/quantity.h"

namespace forebay {
namespace {

using Kind = WhatIf::Kind;

constexpr double kSomeGain = 1.02;
constexpr std::size_t kAdvice = 3;

std::string largest_user_of_cpus(const std::vector<Piece>& pieces) {
  std::array<double, kParts> cpu{};
  for (const Piece& piece : pieces) cpu[static_cast<std::size_t>(piece.part)] += piece.cpu;
  const auto most = std::ranges::max_element(cpu) - cpu.begin();
  return std::string(name_of(static_cast<Part>(most)));
}

std::string part_in(const Verdict& verdict, const StageList& stages,
                    const std::vector<Piece>& pieces) {
  if (verdict.limit == Limit::kTrainer || verdict.limit == Limit::kMemory) {
    return std::string(name_of(verdict.limit));
  }
  if (verdict.limit == Limit::kCpus) return largest_user_of_cpus(pieces);
  const auto stage = std::ranges::find(stages, verdict.stage, &StageInfo::name);
  return std::string(name_of(stage == stages.end() ? Part::kHandOver : part_of(*stage)));
}

bool takes_away(const WhatIf& what_if) {
  return what_if.kind == Kind::kHalfCpus || what_if.kind == Kind::kHalfMemory ||
         what_if.kind == Kind::kFewerWorkers;
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

Activity activity_of(const RunSample& before, const RunSample& now, double cpus) {
  const double seconds = std::max(1e-9, in_seconds(now.at - before.at));
  const double worked = in_seconds(now.worked - before.worked);
  const double waited = in_seconds(now.waited - before.waited);
  Activity activity;
  activity.seconds = seconds;
  activity.starved_ratio = worked + waited > 0 ? waited / (worked + waited) : 1;
  activity.cpus_busy = (now.cpu_seconds - before.cpu_seconds) / seconds;
  activity.cpus = static_cast<std::uint64_t>(std::max(1.0, std::round(cpus)));
  activity.stages = stage_views(before.pipeline, now.pipeline);
  // Until a large batch is full the trainer has no rows, but splits have come through the stages.
  activity.rows = std::max(now.rows - before.rows, activity.stages.back().splits);
  activity.window_bytes = now.pipeline.window_bytes;
  activity.window_capacity = now.pipeline.window_capacity;
  activity.window_wanted = now.pipeline.window_wanted;
  return activity;
}

LimitingPart limiting_part_of(const Activity& activity, const StageList& stages,
                              const std::vector<Piece>& pieces) {
  const Verdict verdict = judge(activity);
  const bool from_workers = std::ranges::any_of(
      pieces, [](const Piece& each) { return each.part == Part::kLink && each.busy > 0; });
  const bool idle = verdict.limit == Limit::kMemory || verdict.limit == Limit::kUnknown;
  if (from_workers && idle) {
    return {"link", "the link to the workers is the bottleneck: no stage here is busy"};
  }
  return {part_in(verdict, stages, pieces), verdict.sentence};
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
