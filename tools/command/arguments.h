#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "engine/job/job_spec.h"
#include "engine/report/json_object.h"
#include "tools/process/process_end.h"

namespace forebay {

/// The arguments after a command's name.
struct Invocation {
  std::vector<std::string> arguments;  ///< Arguments without dashes, in order.
  /// `--set` → its values; empty for a flag.
  std::map<std::string, std::vector<std::string>> options;

  bool has(const std::string& option) const { return options.contains(option); }
  /// Returns the last value given for `option`, or `otherwise`.
  std::string value(const std::string& option, const std::string& otherwise = "") const;
  /// Returns all values given for `option`.
  std::vector<std::string> values(const std::string& option) const;
};

/// Reads the values of a command's options and keeps the first error: kInvalid names the option,
/// its value and what it must be.
class OptionReader {
 public:
  explicit OptionReader(const Invocation& invocation) : invocation_(invocation) {}

  /// Sets `into` to what `parse` makes of the option's value; does nothing if it was not given.
  /// `wanted` completes "must be".
  template <class Value, class Parse>
  OptionReader& value(const std::string& option, Value& into, const std::string& wanted,
                      const Parse& parse) {
    if (!status_ || !invocation_.has(option)) return *this;
    const std::string text = invocation_.value(option);
    const auto parsed = parse(text);
    if (parsed) {
      into = static_cast<Value>(*parsed);
    } else {
      status_ = fail(Code::kInvalid, option + " " + text + ": must be " + wanted);
    }
    return *this;
  }

  /// Reads a whole number from `low` to `high`.
  template <class Value>
  OptionReader& count(const std::string& option, Value& into, std::uint64_t low,
                      std::uint64_t high) {
    const auto parse = [=](const std::string& text) { return count_in(text, low, high); };
    return value(option, into, range_text(low, high), parse);
  }

  /// Reads a port; 0 stands for any if it is the lowest.
  OptionReader& port(const std::string& option, std::uint16_t& into, std::uint64_t lowest);
  /// Reads `train` or `ingest` from `--command`.
  OptionReader& command(std::string& into);

  const Status& status() const { return status_; }

 private:
  static std::optional<std::uint64_t> count_in(const std::string& text, std::uint64_t low,
                                               std::uint64_t high);
  static std::string range_text(std::uint64_t low, std::uint64_t high);

  const Invocation& invocation_;
  Status status_;
};

/// Loads the job of the first argument, with its `--set`s and this machine's defaults.
Result<JobSpec> open_job(const Invocation& invocation);

/// Does the same as if the file's text were `text`.
Result<JobSpec> open_job(const Invocation& invocation, std::string text);

/// Returns the run's folder in a job's folder: its `.forebay`, or `folder` if there is none.
std::string run_folder_in(const std::string& folder);

/// Whether a file that begins with these bytes is one that a command writes, and may replace.
using IsOwnFile = std::function<bool(std::string_view head)>;

/// Refuses (kInvalid) a file at `path` that is not empty and not the command's own: data, a job
/// file or a key that was named by mistake. `what` says what the command writes: "a report".
Status check_replaced(const std::string& path, const std::string& what, const IsOwnFile& is_own);

/// Checks that `--out PATH` can be written aside and renamed, replaces no input of a run, and
/// passes check_replaced().
Status check_out_file(const std::string& path, const std::string& what, const IsOwnFile& is_own);

/// Prints a command's result: `json` under --json; otherwise `print_text` prints it.
Exit print_result(const Invocation& invocation, const JsonObject& json,
                  const std::function<void()>& print_text);

/// Under --json prints `{"stopped":true}` for a command that was stopped before it had a result.
void print_stop(const Invocation& invocation, const Exit& exit);

}  // namespace forebay
