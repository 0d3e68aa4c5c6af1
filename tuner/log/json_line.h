#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/base/text/json_fields.h"
#include "core/base/text/json_text.h"

namespace forebay::tuner {

/// Longer lines are refused before they are parsed.
inline constexpr std::size_t kLongestLogLine = std::size_t{16} << 20;

/// Returns the line of a value whose fields a function `list` names, without the line's end.
template <class T>
std::string line_of(const T& value) {
  T copy = value;  // The list of fields also serves reading, so it needs a mutable value.
  return json_text(JsonFieldWriter::written(copy));
}

/// The problem of a line that is not JSON.
inline constexpr const char* kNotJson = "not valid JSON";

/// Reads a line that line_of() wrote. Returns what is wrong with it; empty: nothing.
template <class T>
std::string read_line(std::string_view line, T& value) {
  if (line.size() > kLongestLogLine) return "the line is longer than 16 MiB";
  const auto json = parse_json(line);
  if (json.is_discarded()) return kNotJson;
  std::string problem;
  JsonFieldReader fields(json, "", problem);
  list(fields, value);
  fields.finish();
  return problem;
}

/// Hands the whole lines of a log to `read`, the first as header; `read` returns what is wrong with
/// a line. kCorrupt names the log, the line and its problem, or says `none` about a log without a
/// line. Returns whether the last line was torn and is left out: a killed run or a full disk leaves
/// one without its end, and a tool that copies lines may end it.
template <class Read>
Result<bool> read_lines(std::string_view text, const std::string& name, const std::string& none,
                        const Read& read) {
  std::size_t number = 0;
  for (std::size_t end = 0; (end = text.find('\n')) != std::string_view::npos;) {
    const std::string problem = read(text.substr(0, end), ++number == 1);
    text.remove_prefix(end + 1);
    if (problem.empty()) continue;
    if (problem == kNotJson && number > 1 && text.empty()) return true;
    std::string where = name;
    where.append(", line ").append(std::to_string(number)).append(": ");
    return fail(Code::kCorrupt, where.append(problem));
  }
  if (number == 0) return fail(Code::kCorrupt, name + ": " + none);
  return !text.empty();
}

}  // namespace forebay::tuner
