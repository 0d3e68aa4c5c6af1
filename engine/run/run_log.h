#pragma once

#include <memory>
#include <string>

namespace spdlog {
class logger;
}

namespace forebay {

/// A run's log: its messages in a file of the job's folder, with the time of each line.
///
/// Owns `DIR/logs/COMMAND.log` and keeps its last few megabytes. Any thread may write. If the file
/// cannot be made or written, the run goes on without a log.
class RunLog {
 public:
  RunLog(const std::string& run_dir, const std::string& command);
  ~RunLog();
  RunLog(const RunLog&) = delete;
  RunLog& operator=(const RunLog&) = delete;

  void write(const std::string& line);

 private:
  std::shared_ptr<spdlog::logger> logger_;
};

}  // namespace forebay
