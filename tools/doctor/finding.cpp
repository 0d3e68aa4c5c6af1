#include "tools/doctor/finding.h"

#include <algorithm>

#include "core/base/enum_names.h"
#include "core/base/printable.h"

namespace forebay {
namespace {

constexpr EnumName<Finding::Verdict> kVerdicts[] = {{"ok", Finding::Verdict::kOk},
                                                    {"warn", Finding::Verdict::kWarn},
                                                    {"bad", Finding::Verdict::kBad}};

std::string message_of(const Finding& check) {
  return check.advice.empty() ? check.what : check.what + " — " + check.advice;
}

}  // namespace

std::string to_line(const Finding& check) {
  std::string line(name_in(kVerdicts, check.verdict));
  line.resize(6, ' ');
  return line + check.name + ": " + printable_message(message_of(check));
}

JsonObject to_json(const Finding& check) {
  return JsonObject()
      .add("name", check.name)
      .add("status", name_in(kVerdicts, check.verdict))
      .add("message", message_of(check));
}

std::size_t count_bad(const std::vector<Finding>& checks) {
  return static_cast<std::size_t>(std::ranges::count_if(
      checks, [](const Finding& check) { return check.verdict == Finding::Verdict::kBad; }));
}

}  // namespace forebay
