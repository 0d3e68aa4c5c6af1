#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "tools/process/process_end.h"

namespace forebay {

/// Runs a benchmark in a process of its own, so that a stop request ends it within about a second,
/// whatever it is doing. After a stop, no process of the benchmark and nothing in its TMPDIR, which
/// is a new folder, is left.
///
/// The new process prints what the benchmark prints, its message included; returns the exit status
/// alone. Call it before any thread starts.
Exit run_apart(const std::function<Exit()>& benchmark);

/// Runs a program to its end and returns the numbers of the JSON object in its last line of stdout.
/// kUnavailable names the command if it fails or prints no such line; or a stop was requested.
Result<std::map<std::string, double>> numbers_said_by(const std::string& command);

/// Returns the numbers of the last JSON object that is a line of a file, such as what a
/// MeasuredProgram said. kUnavailable: there is none.
Result<std::map<std::string, double>> last_numbers_in(const std::string& path);

/// Returns the number `rows_per_second` of a program as for numbers_said_by().
Result<double> rate_said_by(const std::string& command);

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

/// The other process of a benchmark, connected to this one by pipes that carry lines.
///
/// Ends with this process, or when this object is destroyed; the destructor waits for it.
class BenchProcess {
 public:
  /// One side's ends of the pipes.
  class Lines {
   public:
    Lines(int in, int out) : in_(in), out_(out) {}
    /// Returns "" if the other side has closed.
    std::string read() const;
    /// Reads a line that is a number. kUnavailable: it is the reason why there is no number.
    Result<double> read_number() const;
    void write(const std::string& line) const;
    void close() const;

   private:
    int in_;
    int out_;
  };

  /// Forks; the child runs `body` and ends.
  static Result<BenchProcess> start(const std::function<void(const Lines&)>& body);
  ~BenchProcess();
  BenchProcess(BenchProcess&& other) noexcept;
  BenchProcess& operator=(BenchProcess&&) = delete;

  const Lines& lines() const { return lines_; }

  /// Sends SIGKILL.
  void kill() const;

 private:
  BenchProcess(pid_t pid, Lines lines) : pid_(pid), lines_(lines) {}

  pid_t pid_;
  Lines lines_;
};

}  // namespace forebay
