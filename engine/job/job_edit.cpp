#include "engine/job/job_edit.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <vector>

#include "core/base/whole_file.h"
#include "engine/job/job_document.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

std::string without_spaces(std::string_view text) {
  std::string kept;
  for (const char c : text) {
    if (c != ' ' && c != '\t' && c != '\r') kept += c;
  }
  return kept;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    lines.push_back(text.substr(at, end - at));
    at = end;
  }
  return lines;
}

/// Returns where a comment begins, or the line's end.
std::size_t end_of_value(const std::string& line, std::size_t at) {
  char quote = 0;
  for (; at < line.size() && line[at] != '\n' && line[at] != '\r'; ++at) {
    const char c = line[at];
    if (quote == 0 && c == '#') break;
    if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    }
  }
  while (at > 0 && (line[at - 1] == ' ' || line[at - 1] == '\t')) --at;
  return at;
}

/// Returns `pipeline.allocation` for a line such as `[pipeline.allocation]  # …`, "[]" for one that
/// opens a list's table; nullopt for lines that open no table.
std::optional<std::string> table_of(const std::string& line) {
  const std::string bare = without_spaces(line);
  if (!bare.starts_with('[')) return std::nullopt;
  return bare.starts_with("[[") ? "[]" : bare.substr(1, bare.find(']') - 1);
}

bool sets(const std::string& line, const std::string& table, const std::string& name) {
  const std::size_t equals = line.find('=');
  if (equals == std::string::npos) return false;
  const std::string key = without_spaces(line.substr(0, equals));
  return (table.empty() ? key : table + "." + key) == name;
}

/// Replaces the value, or adds it after the table's last key.
std::string edited(const std::string& text, const std::string& table, const std::string& key,
                   const std::string& value) {
  std::vector<std::string> lines = lines_of(text);
  std::string current;
  const std::string whole = table + "." + key;
  std::size_t behind = 0;  // one past the last line of the table
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (const auto opened = table_of(lines[i])) {
      current = *opened;
    } else if (sets(lines[i], current, whole)) {
      const std::size_t begin = lines[i].find('=') + 1;
      const std::size_t end = end_of_value(lines[i], begin);
      lines[i].replace(begin, end - begin, " " + value);
      behind = lines.size() + 1;
      break;
    }
    const std::string bare = without_spaces(lines[i]);
    // Not after a comment, which may belong to the table below.
    if (current == table && bare != "\n" && !bare.starts_with('#')) behind = i + 1;
  }
  std::string result;
  const std::string line = key + " = " + value + "\n";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0 && i == behind) result += line;
    result += lines[i];
  }
  if (!result.empty() && result.back() != '\n') result += '\n';
  if (behind == lines.size() && behind > 0) result += line;
  if (behind == 0) result += "\n[" + table + "]\n" + line;
  return result;
}

bool same_but(const JobDocument& before, const JobDocument& after, const std::string& name) {
  const auto rest = [&](const JobDocument& document) {
    std::vector<std::pair<std::string, ParamValue>> values;
    for (const auto& [key, given] : document.values) {
      if (key != name) values.emplace_back(key, given.value);
    }
    for (const auto& transform : document.transforms) {
      for (const auto& [key, given] : transform.values) values.emplace_back(key, given.value);
    }
    return values;
  };
  return after.values.contains(name) && rest(before) == rest(after);
}

}  // namespace

Result<std::string> with_value(const std::string& text, std::string_view table,
                               std::string_view key, std::string_view value) {
  const std::string name = std::string(table) + "." + std::string(key);
  auto before = parse_toml(text, "the job file");
  if (!before) return pass(before);
  std::string result = edited(text, std::string(table), std::string(key), std::string(value));
  auto after = parse_toml(result, "the job file");
  auto wanted = parse_toml(name + " = " + std::string(value), "the value");
  const bool right = after && wanted && same_but(*before, *after, name) &&
                     after->values.at(name).value == wanted->values.at(name).value;
  if (right) return result;
  return fail(Code::kInvalid, name + " is written in a way that cannot be changed in place; set " +
                                  name + " = " + std::string(value) + " by hand");
}

Status replace_file(const std::string& path, const std::string& text) {
  std::error_code error;
  const fs::path target = fs::canonical(path, error);
  if (error) return fail(Code::kInvalid, path + ": " + error.message());
  const auto mode = static_cast<mode_t>(fs::status(target, error).permissions());
  if (error) return fail(Code::kInvalid, path + ": " + error.message());
  return replace_whole(target, text, Sync::kNo, mode);
}

}  // namespace forebay
