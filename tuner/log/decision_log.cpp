#include "tuner/log/decision_log.h"

#include <utility>

#include "core/base/whole_file.h"
#include "tuner/log/decision_fields.h"
#include "tuner/log/json_line.h"

namespace forebay::tuner {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 30;
constexpr const char* kVersionKey = "forebay_decisions";
constexpr const char* kNoLog = "this is no decision log";

/// Checks that the first line is of this version; its fields are checked later.
std::string check_version(std::string_view line) {
  const auto json = parse_json(line.substr(0, kLongestLogLine));
  if (!json.is_object() || !json.contains(kVersionKey)) return kNoLog;
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
  const auto read = [&log](std::string_view line, bool first) {
    if (first) {
      std::string problem = check_version(line);
      if (problem.empty()) problem = read_line(line, log.header);
      const bool fits = log.header.start.actors.size() == log.header.description.stages.size();
      return problem.empty() ? other_size(fits ? "" : "start.actors") : problem;
    }
    Decision decision;
    std::string problem = read_line(line, decision);
    if (!problem.empty()) return problem;
    log.decisions.push_back(std::move(decision));
    return other_size(misfit(log.decisions.back(), log.header.description));
  };
  auto torn = read_lines(text, name, kNoLog, read);
  if (!torn) return pass(torn);
  log.torn = *torn;
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
