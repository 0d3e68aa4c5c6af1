#include "tuner/log/decision_log.h"

#include <cerrno>
#include <cstring>

#include "core/base/text/json_fields.h"
#include "core/base/text/json_text.h"
#include "core/base/whole_file.h"
#include "tuner/log/decision_fields.h"

namespace forebay::tuner {
namespace {

template <class T>
std::string line_of(const T& value) {
  T copy = value;  // The list of fields also serves reading, so it needs a mutable value.
  return json_text(JsonFieldWriter::written(copy));
}

constexpr std::size_t kMostLineBytes = std::size_t{16} << 20;
constexpr std::size_t kMostBytes = std::size_t{1} << 30;
constexpr const char* kVersionKey = "forebay_decisions";

template <class T>
std::string read_line(std::string_view line, T& value) {
  if (line.size() > kMostLineBytes) return "the line is longer than 16 MiB";
  const auto json = parse_json(line);
  if (json.is_discarded()) return "not valid JSON";
  std::string problem;
  JsonFieldReader fields(json, "", problem);
  list(fields, value);
  fields.finish();
  return problem;
}

/// Checks that the first line is of this version; its fields are checked later.
std::string check_version(std::string_view line) {
  const auto json = parse_json(line.substr(0, kMostLineBytes));
  if (!json.is_object() || !json.contains(kVersionKey)) return "this is no decision log";
  const auto& version = json[kVersionKey];
  if (version.is_number_unsigned() && version.get<std::uint64_t>() == kLogVersion) return {};
  return "the log is of version " + json_text(version).substr(0, 20) +
         ", this program reads version " + std::to_string(kLogVersion);
}

/// Says that a part of a line has another number of stages; empty if `part` is.
std::string other_size(std::string_view part) {
  return part.empty() ? std::string() : std::string(part) + " does not fit the layout";
}

}  // namespace

std::string to_line(const Decision& decision) { return line_of(decision); }
std::string to_line(const LogHeader& header) { return line_of(header); }

Result<LineLog> LineLog::create(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "we");
  if (file == nullptr) {
    return fail(Code::kInvalid, "decision log " + path + ": " + std::strerror(errno));
  }
  return LineLog(path, file);
}

Status LineLog::add(const std::string& line) {
  const std::string whole = line + '\n';
  const std::size_t written = std::fwrite(whole.data(), 1, whole.size(), file_.get());
  if (written != whole.size() || std::fflush(file_.get()) != 0) {
    return fail(Code::kUnavailable, "decision log " + path_ + ": " + std::strerror(errno));
  }
  return {};
}

Result<DecisionLogWriter> DecisionLogWriter::create(const std::string& path,
                                                    const LogHeader& header) {
  auto lines = LineLog::create(path);
  if (!lines) return pass(lines);
  DecisionLogWriter writer(std::move(*lines));
  if (auto status = writer.lines_.add(to_line(header)); !status) return pass(status);
  return writer;
}

Status DecisionLogWriter::add(const Decision& decision) { return lines_.add(to_line(decision)); }

Result<DecisionLog> parse_decision_log(std::string_view text, const std::string& name) {
  DecisionLog log;
  std::size_t number = 0;
  for (std::size_t end = 0; (end = text.find('\n')) != std::string_view::npos;) {
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    ++number;
    std::string problem;
    if (number == 1) {
      problem = check_version(line);
      if (problem.empty()) problem = read_line(line, log.header);
      const bool fits = log.header.start.actors.size() == log.header.description.stages.size();
      if (problem.empty()) problem = other_size(fits ? "" : "start.actors");
    } else {
      const Decision& decision = log.decisions.emplace_back();
      problem = read_line(line, log.decisions.back());
      if (problem.empty()) problem = other_size(misfit(decision, log.header.description));
    }
    if (problem.empty()) continue;
    std::string where = name;
    where += ", line " + std::to_string(number) + ": ";
    return fail(Code::kCorrupt, where + problem);
  }
  if (number == 0) return fail(Code::kCorrupt, name + ": this is no decision log");
  return log;
}

Result<DecisionLog> read_decision_log(const std::string& path) {
  const auto text = read_whole(path, kMostBytes);
  if (!text) {
    const bool missing = text.error().code == Code::kNotFound;
    return fail(missing ? Code::kNotFound : Code::kInvalid, "decision log " + text.error().message);
  }
  return parse_decision_log(*text, path);
}

}  // namespace forebay::tuner
