#pragma once

#include <memory>
#include <string>

namespace spdlog {
class logger;
}

namespace forebay {

/// What a run tells, kept in a file of the job's folder with the time of each line.
///
/// Owns `DIR/logs/COMMAND.log`, of which the last few megabytes are kept. Any thread may write. A
/// file that cannot be made, or has no room, is no reason to stop a run: then nothing is kept.
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
