#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace forebay {

/// An option of a command. Without a `value` it is a flag.
struct OptionSpec {
  std::string_view name;   ///< `--rows`
  std::string_view value;  ///< `N`; empty for a flag.
  std::string_view help;
};

/// What the user wrote behind a command's name.
struct Invocation {
  std::vector<std::string> arguments;  ///< Without dashes, in order.
  std::map<std::string, std::vector<std::string>>
      options;  ///< `--set` → its values; a flag has none.

  bool has(const std::string& option) const { return options.contains(option); }
  /// The last value given for `option`, or `otherwise`.
  std::string value(const std::string& option, const std::string& otherwise = "") const;
  /// All values given for `option`.
  std::vector<std::string> values(const std::string& option) const;
};

/// How a command ended: its exit status and, for the user, why.
struct Exit {
  int status = 0;
  std::string message;  ///< Printed to stderr behind "forebay: "; empty: nothing is printed.

  static constexpr int kDone = 0;
  static constexpr int kFailed = 1;   ///< The run failed.
  static constexpr int kRefused = 2;  ///< Wrong usage or configuration; nothing was started.

  static Exit done() { return {}; }
  static Exit failed(const Error& error) { return {kFailed, error.message}; }
  static Exit refused(const Error& error) { return {kRefused, error.message}; }
  static Exit refused(std::string message) { return {kRefused, std::move(message)}; }
  /// After an orderly stop by `signal`: 129, 130 or 143.
  static Exit stopped(int signal) { return {128 + signal, ""}; }
};

/// A subcommand: how it is called, and the function that does it.
struct Command {
  std::string_view name;
  std::string_view summary;        ///< One line for `forebay help`.
  std::string_view argument = {};  ///< `JOB`, `FILE…` or empty.
  std::size_t fewest_arguments = 0;
  std::size_t most_arguments = 0;
  std::vector<OptionSpec> options = {};
  std::string_view example = {};             ///< Lines for `--help`.
  Exit (*run)(const Invocation&) = nullptr;  ///< Absent where the command is not built yet.
  /// Commands below this one, by their full names: `tune show` below `tune`.
  std::vector<Command> parts = {};
};

/// Options that many commands share.
inline constexpr OptionSpec kJsonOption{
    "--json", "", "print the result as one JSON object, the last line of stdout"};
inline constexpr OptionSpec kSetOption{"--set", "KEY=VALUE",
                                       "override a key of the job file (repeatable)"};

/// Every command, in the order of `forebay help`.
std::span<const Command> all_commands();

}  // namespace forebay
