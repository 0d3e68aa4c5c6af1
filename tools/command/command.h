#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/process/exit_status.h"

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
