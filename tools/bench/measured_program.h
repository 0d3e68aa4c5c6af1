#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"

namespace forebay {

/// A program that runs beside this one and whose CPU time is measured.
///
/// Ends with this process; killed if this object is destroyed before cpu_seconds() was called.
class MeasuredProgram {
 public:
  /// `arguments` begins with the program's path. Its output goes to the file `said`.
  static Result<MeasuredProgram> start(std::vector<std::string> arguments, const std::string& said);
  ~MeasuredProgram();
  MeasuredProgram(MeasuredProgram&& other) noexcept;
  MeasuredProgram& operator=(MeasuredProgram&&) = delete;

  bool has_ended();
  /// Waits for its end; returns its seconds of CPU, user and kernel. kUnavailable: it failed; the
  /// message ends with the end of its output.
  Result<double> cpu_seconds();

 private:
  MeasuredProgram(pid_t pid, std::string said) : pid_(pid), said_(std::move(said)) {}
  void wait(int flags);

  pid_t pid_;  // -1: it has ended, see below
  std::string said_;
  int status_ = 0;
  double cpu_seconds_ = 0;
};

/// Returns the CPU seconds that this process has used.
double own_cpu_seconds();

}  // namespace forebay
