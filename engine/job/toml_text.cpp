#include "engine/job/toml_text.h"

#include <algorithm>
#include <utility>

namespace forebay {

Result<toml::table> read_toml(std::string_view text, std::string_view name) {
  toml::parse_result parsed = toml::parse(text);
  if (parsed) return std::move(parsed).table();
  const toml::parse_error& error = parsed.error();
  std::string what(error.description());
  std::replace(what.begin(), what.end(), '\n', ' ');
  return fail(Code::kInvalid, std::string(name) + ", line " +
                                  std::to_string(error.source().begin.line) + ", column " +
                                  std::to_string(error.source().begin.column) +
                                  ": not valid TOML: " + what);
}

std::string at_line(std::string_view name, const toml::node& node) {
  return std::string(name) + ", line " + std::to_string(node.source().begin.line);
}

}  // namespace forebay
