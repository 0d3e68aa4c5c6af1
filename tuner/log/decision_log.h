#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "tuner/allocation.h"
#include "tuner/log/line_log.h"
#include "tuner/policy.h"

namespace forebay::tuner {

/// The first line of a decision log: the policy and the pipeline. With it and the observations the
/// same build repeats the same decisions.
struct LogHeader {
  std::string policy;
  std::string command;  ///< `train`, `ingest`, …
  std::uint64_t seed = 1;
  PipelineDescription description;
  Limits limits;                  ///< At the start.
  Allocation start;               ///< The allocation at the start.
  std::string weights;            ///< The policy's weights file; empty: none.
  std::string reward = "usable";  ///< As tuner/allocation.h names it.
  std::string restored;           ///< The learned state at the start; empty: none.
};

/// A decision log as read. A value.
struct DecisionLog {
  LogHeader header;
  std::vector<Decision> decisions;
  bool torn = false;  ///< A torn last line was left out.
};

/// Writes a decision log, one line per decision; the whole line is in the file when add() returns.
/// Belongs to one thread.
class DecisionLogWriter {
 public:
  /// Creates the file, replacing an older one. kInvalid names the file and the reason.
  static Result<DecisionLogWriter> create(const std::string& path, const LogHeader& header);

  Status add(const Decision& decision);

 private:
  explicit DecisionLogWriter(LineLog lines) : lines_(std::move(lines)) {}

  LineLog lines_;
};

/// Returns the line of a decision, without its end; reading it back gives the same numbers.
std::string to_line(const Decision& decision);
std::string to_line(const LogHeader& header);

/// Parses a log; `name` is its name in messages. Returns kCorrupt, naming file, line and key, for
/// another version, a line that this version does not write, or sizes that do not fit the
/// description. Leaves out a torn last line: one without its end, or one that is not JSON.
Result<DecisionLog> parse_decision_log(std::string_view text, const std::string& name);

/// Reads a log from a file of at most 1 GiB; kNotFound if it does not exist.
Result<DecisionLog> read_decision_log(const std::string& path);

}  // namespace forebay::tuner
