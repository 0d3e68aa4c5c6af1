#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "tuner/decision.h"
#include "tuner/pipeline_description.h"

namespace forebay::tuner {

/// The first line of a decision log: who decides about what. With it and the observations the same
/// build decides the same again.
struct LogHeader {
  std::string policy;
  std::string command;  ///< `train`, `ingest`, …
  std::uint64_t seed = 1;
  PipelineDescription description;
  Limits limits;                  ///< At the start.
  Allocation start;               ///< What stood then.
  std::string weights;            ///< The file given to the policy; empty: none.
  std::string reward = "usable";  ///< As tuner/reward.h names it.
  std::string restored;           ///< The learned state it started from; empty: none.
};

/// A decision log as read. A value.
struct DecisionLog {
  LogHeader header;
  std::vector<Decision> decisions;
};

/// Writes a decision log, a line a decision, each whole in the file when add() returns. Belongs to
/// one thread.
class DecisionLogWriter {
 public:
  /// Makes the file anew. kInvalid names it and why not.
  static Result<DecisionLogWriter> create(const std::string& path, const LogHeader& header);

  Status add(const Decision& decision);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  DecisionLogWriter(std::string path, std::FILE* file) : path_(std::move(path)), file_(file) {}
  Status write(const std::string& line);

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
};

/// The line of a decision, without its end; numbers come back as they are.
std::string to_line(const Decision& decision);
std::string to_line(const LogHeader& header);

/// Reads a log from text; `name` is how messages call it. Refuses another version, a line that is
/// not what this version writes, sizes that do not fit the layout: kCorrupt names file, line and
/// key. A last line without its end (a killed run) is left out.
Result<DecisionLog> parse_decision_log(std::string_view text, const std::string& name);

/// The same from a file of at most 1 GiB; kNotFound when there is none.
Result<DecisionLog> read_decision_log(const std::string& path);

}  // namespace forebay::tuner
