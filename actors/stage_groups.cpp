#include "actors/stage_groups.h"

#include <algorithm>

#include "core/base/text/printable.h"

namespace forebay {
namespace {

constexpr const char* kKey = "pipeline.fuse: ";
/// The operator that calls a user's compiled function.
constexpr const char* kUdfOp = "udf";

Error refusal(std::string what) { return {Code::kInvalid, kKey + std::move(what)}; }

Result<std::size_t> stage_named(const std::string& name, const StageList& stages) {
  const auto found = std::ranges::find(stages, name, &StageInfo::name);
  if (found != stages.end()) return static_cast<std::size_t>(found - stages.begin());
  return tl::unexpected<Error>(refusal(
      printable_field(name) + " is no stage that can be fused; this job has " + names_of(stages)));
}

/// Whether the stage has actors of its own unless the job lists it in a group.
bool is_bound(const StageInfo& stage, const std::vector<TransformSpec>& operators) {
  if (stage.max_actors != StageInfo().max_actors) return true;
  for (std::size_t op = stage.first_op; op < stage.end_op && op < operators.size(); ++op) {
    const bool calls = operators[op].op == kUdfOp || operators[op].op == kPythonOp;
    if (calls || !operators[op].stage.empty()) return true;
  }
  return false;
}

}  // namespace

std::vector<std::size_t> StageGroups::firsts(std::size_t stages) const {
  std::vector<std::size_t> all;
  for (std::size_t stage = 0; stage < stages; stage = end(stage)) all.push_back(stage);
  return all;
}

std::vector<std::vector<std::string>> StageGroups::names(const StageList& stages) const {
  std::vector<std::vector<std::string>> groups;
  for (const std::size_t first : firsts(stages.size())) {
    if (end(first) == first + 1) continue;
    auto& group = groups.emplace_back();
    for (std::size_t stage = first; stage < end(first); ++stage) {
      group.push_back(stages[stage].name);
    }
  }
  return groups;
}

StageGroups group_all(const StageList& stages, const std::vector<TransformSpec>& operators,
                      bool is_remote) {
  std::vector<bool> joined;
  for (std::size_t i = 0; i + 1 < stages.size(); ++i) {
    const bool waits = is_remote && stages[i].kind == StageInfo::Kind::kLoad;
    joined.push_back(!waits && !is_bound(stages[i], operators) &&
                     !is_bound(stages[i + 1], operators));
  }
  return StageGroups(std::move(joined));
}

Result<StageGroups> listed_groups(const std::vector<std::vector<std::string>>& names,
                                  const StageList& stages) {
  std::vector<bool> joined(stages.empty() ? 0 : stages.size() - 1);
  std::vector<bool> named(stages.size());
  for (const auto& group : names) {
    for (std::size_t i = 0; i < group.size(); ++i) {
      auto stage = stage_named(group[i], stages);
      if (!stage) return pass(stage);
      if (named[*stage]) {
        return tl::unexpected<Error>(refusal(group[i] + " is listed twice"));
      }
      named[*stage] = true;
      if (i == 0) continue;
      if (*stage == 0 || stages[*stage - 1].name != group[i - 1]) {
        return tl::unexpected<Error>(refusal(group[i] + " does not follow " + group[i - 1] +
                                             "; the stages are " + names_of(stages)));
      }
      joined[*stage - 1] = true;
    }
  }
  return StageGroups(std::move(joined));
}

std::uint64_t total_actors(const StageGroups& groups, const std::vector<std::uint32_t>& actors) {
  std::uint64_t all = 0;
  for (const std::size_t first : groups.firsts(actors.size())) all += actors[first];
  return all;
}

std::vector<std::uint32_t> start_actors(const StageGroups& groups, std::vector<std::uint32_t> given,
                                        int cpus, bool spread) {
  for (const std::size_t first : groups.firsts(given.size())) {
    const auto begin = given.begin() + static_cast<std::ptrdiff_t>(first);
    const std::size_t size = groups.end(first) - first;
    std::uint32_t actors = *std::max_element(begin, begin + static_cast<std::ptrdiff_t>(size));
    if (spread) {
      actors = std::max(actors, static_cast<std::uint32_t>(std::clamp<std::size_t>(
                                    size, 1, static_cast<std::size_t>(std::max(1, cpus)))));
    }
    std::fill_n(begin, size, actors);
  }
  return given;
}

}  // namespace forebay
