#include "actors/stage_list.h"

#include <algorithm>
#include <string_view>

#include "actors/operator_table.h"
#include "core/base/text/printable.h"

namespace forebay {
namespace {

using Kind = StageInfo::Kind;

constexpr std::size_t kLongestName = 32;
/// Not a stage of the list, but shown beside its stages.
constexpr std::string_view kBatch = "batch";

bool is_name(std::string_view name) {
  const auto letter = [](char c) { return c >= 'a' && c <= 'z'; };
  return !name.empty() && name.size() <= kLongestName && letter(name.front()) &&
         std::all_of(name.begin(), name.end(), [&](char c) {
           return letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-';
         });
}

/// Says what is wrong with a new stage of this name; empty: nothing.
std::string fault_of(const std::string& name, const StageList& before) {
  if (!is_name(name)) return "must be a letter a-z and at most 31 more of a-z, 0-9, _ and -";
  const auto same = std::find_if(before.begin(), before.end(),
                                 [&](const StageInfo& stage) { return stage.name == name; });
  const bool found = same != before.end();
  if (name == kBatch || (found && same->kind != Kind::kTransform)) {
    return "is the name of another stage; choose one that is none of load, decode, shuffle, batch";
  }
  if (found) {
    return "ended at " + operator_table(same->end_op - 1) +
           "; operators of one stage must be neighbours";
  }
  if (before.size() < kMostStages) return {};
  return "is one stage too many; at most " + std::to_string(kMostStages) + " are possible";
}

/// Functions in Python take turns in a process of an actor, so each gets actors of its own.
std::string name_for_python(const StageList& before) {
  const auto is_taken = [&](const std::string& name) {
    return std::ranges::find(before, name, &StageInfo::name) != before.end();
  };
  std::string name = kPythonOp;
  for (int number = 2; is_taken(name); ++number) {
    name = kPythonOp + ("-" + std::to_string(number));
  }
  return name;
}

}  // namespace

Result<StageList> stages_of(const std::vector<TransformSpec>& operators) {
  StageList stages{{.name = "load", .kind = Kind::kLoad},
                   {.name = kDecodeStage, .kind = Kind::kDecode},
                   {.name = "shuffle", .kind = Kind::kShuffle}};
  const auto begin = [&](const std::string& name, std::size_t op) {
    stages.push_back({.name = name, .kind = Kind::kTransform, .first_op = op, .end_op = op});
  };
  for (std::size_t op = 0; op < operators.size(); ++op) {
    const std::string& given = operators[op].stage;
    const std::string name = !given.empty()                  ? given
                             : operators[op].op == kPythonOp ? name_for_python(stages)
                             : op > 0                        ? stages.back().name
                                                             : std::string(kTransformStage);
    if (op == 0 || name != stages.back().name) {
      if (const std::string fault = fault_of(name, stages); !fault.empty()) {
        return fail(Code::kInvalid,
                    operator_table(op) + ": stage \"" + printable(name, 60) + "\" " + fault);
      }
      begin(name, op);
    }
    stages.back().end_op = op + 1;
  }
  if (operators.empty()) begin(kTransformStage, 0);
  return stages;
}

std::string names_of(const StageList& stages) {
  std::string names;
  for (const StageInfo& stage : stages) names += (names.empty() ? "" : ", ") + stage.name;
  return names;
}

}  // namespace forebay
