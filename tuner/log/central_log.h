#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "tuner/cluster/cluster_report.h"
#include "tuner/log/line_log.h"

namespace forebay::tuner {

/// A decision of the central tuner, with all that it rests on. A line of its log.
struct CentralDecision {
  ClusterReport report;
  ClusterAdvice advice;
};

/// A log of the central tuner, as read.
struct CentralLog {
  std::string command;  ///< `train`, `ingest`, …
  std::vector<CentralDecision> decisions;
  bool torn = false;  ///< A torn last line was left out.
};

/// Writes the log of a central tuner: a first line with its version, then one line a decision, in
/// the file when add() returns. Belongs to one thread.
class CentralLogWriter {
 public:
  /// Creates the file, replacing an older one. kInvalid names the file and the reason.
  static Result<CentralLogWriter> create(const std::string& path, const std::string& command);

  Status add(const CentralDecision& decision) { return lines_.add(to_line(decision)); }
  static std::string to_line(const CentralDecision& decision);

 private:
  explicit CentralLogWriter(LineLog lines) : lines_(std::move(lines)) {}

  LineLog lines_;
};

/// Whether the text is a log of a central tuner, of any version.
bool is_central_log(std::string_view text);

/// Parses a log; `name` is its name in messages. kCorrupt names file, line and key, as
/// parse_decision_log() does. Leaves out a torn last line.
Result<CentralLog> parse_central_log(std::string_view text, const std::string& name);

/// The decisions that a planner that gets the same reports takes otherwise, by their number: what
/// it says now.
struct CentralDifference {
  std::uint64_t number = 0;
  std::string logged;
  std::string now;
};
std::vector<CentralDifference> replay(const CentralLog& log);

/// A decision in lines for a person: the expected rate, the model's threads where they may change,
/// then each node and its advice.
std::vector<std::string> describe(const CentralDecision& decision);

}  // namespace forebay::tuner
