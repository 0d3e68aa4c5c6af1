#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"

namespace forebay {

/// A program that runs beside this one, and what CPU it took in all.
///
/// Ends with this process, and is killed when it dies before wait().
class MeasuredProgram {
 public:
  /// `arguments` begins with the program's path. What it says goes to the file `said`.
  static Result<MeasuredProgram> start(std::vector<std::string> arguments, const std::string& said);
  ~MeasuredProgram();
  MeasuredProgram(MeasuredProgram&& other) noexcept;
  MeasuredProgram& operator=(MeasuredProgram&&) = delete;

  bool has_ended();
  /// Waits for its end; seconds of CPU, in user and kernel. kUnavailable, with the end of what it
  /// said, when it failed.
  Result<double> cpu_seconds();

 private:
  MeasuredProgram(pid_t pid, std::string said) : pid_(pid), said_(std::move(said)) {}
  void wait(int flags);

  pid_t pid_;  // -1: it has ended, as below
  std::string said_;
  int status_ = 0;
  double cpu_seconds_ = 0;
};

/// CPU that this process has taken, in seconds.
double own_cpu_seconds();

}  // namespace forebay
