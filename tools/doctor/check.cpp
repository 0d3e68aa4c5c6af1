#include "tools/doctor/check.h"

#include <algorithm>

namespace forebay {
namespace {

const char* word_of(Check::Verdict verdict) {
  switch (verdict) {
    case Check::Verdict::kOk:
      return "ok";
    case Check::Verdict::kWarn:
      return "warn";
    case Check::Verdict::kBad:
      return "bad";
  }
  return "";
}

std::string message_of(const Check& check) {
  return check.advice.empty() ? check.what : check.what + " — " + check.advice;
}

}  // namespace

std::string to_line(const Check& check) {
  std::string line = word_of(check.verdict);
  line.resize(6, ' ');
  return line + check.name + ": " + message_of(check);
}

JsonObject to_json(const Check& check) {
  return JsonObject()
      .add("name", check.name)
      .add("status", word_of(check.verdict))
      .add("message", message_of(check));
}

std::size_t count_bad(const std::vector<Check>& checks) {
  return static_cast<std::size_t>(std::ranges::count_if(
      checks, [](const Check& check) { return check.verdict == Check::Verdict::kBad; }));
}

}  // namespace forebay
