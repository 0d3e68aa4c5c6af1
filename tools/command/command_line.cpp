#include <algorithm>
#include <cstdio>
#include <iterator>
#include <limits>
#include <utility>

#include <CLI/CLI.hpp>

#include "core/base/result.h"
#include "core/base/text/nearest.h"
#include "engine/report/json_object.h"
#include "tools/command/commands.h"
#include "tools/process/standard_streams.h"
#include "tools/symmetric/launch_end.h"

namespace forebay {
namespace {

const Command* find_command(std::string_view name) {
  const auto found = std::ranges::find(all_commands(), name, &Command::name);
  return found == all_commands().end() ? nullptr : &*found;
}

/// Returns the subcommand of `command` that `words` begin with, or `command` itself if there is
/// none.
const Command& part_of(const Command& command, const std::vector<std::string>& words) {
  if (words.empty()) return command;
  const std::string name = std::string(command.name) + " " + words.front();
  const auto found = std::ranges::find(command.parts, name, &Command::name);
  return found == command.parts.end() ? command : *found;
}

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

Exit unknown_command(const std::string& word) {
  std::vector<std::string_view> names = {"help"};
  for (const Command& command : all_commands()) names.push_back(command.name);
  const std::string what = word.starts_with('-') ? "unknown option " : "unknown command ";
  if (word.starts_with('-')) names = {"--help", "--version"};
  return Exit::refused(what + word + did_you_mean(word, names) + "; see forebay help");
}

std::string usage_hint(const Command& command) {
  return "; see forebay " + std::string(command.name) + " --help";
}

std::string unknown_option(const Command& command, const std::string& word) {
  std::vector<std::string_view> names = {"--help"};
  for (const OptionSpec& option : command.options) names.push_back(option.name);
  const std::string name = word.substr(0, word.find('='));
  return std::string(command.name) + ": unknown option " + name + did_you_mean(name, names) +
         usage_hint(command);
}

/// Names the option that was given as the `last` word, without its value.
std::string option_without_value(const Command& command, const std::string& last) {
  const auto option = std::ranges::find(command.options, last, &OptionSpec::name);
  const std::string missing =
      option == command.options.end()
          ? "an option lacks its value"
          : std::string(option->name) + " needs a value, " + std::string(option->value);
  return std::string(command.name) + ": " + missing + usage_hint(command);
}

/// How many arguments a command takes, by the words of its help.
struct Arity {
  explicit Arity(std::string_view shown)
      : most(shown.empty() ? 0 : 1 + std::ranges::count(shown, ' ')), fewest(most) {
    if (shown.find("…") != std::string_view::npos)
      most = std::numeric_limits<std::ptrdiff_t>::max();
    if (shown.starts_with('[')) fewest = 0;
  }

  std::ptrdiff_t most;
  std::ptrdiff_t fewest;
};

std::string arguments_wanted(std::string_view shown) {
  if (shown.empty()) return "takes no argument";
  if (!shown.starts_with('[')) return "needs one argument, " + std::string(shown);
  return "takes at most one argument, " + std::string(shown.substr(1, shown.size() - 2));
}

// CLI11 throws on invalid arguments; the exceptions are caught here.
Result<Invocation> parse_arguments(const Command& command, std::vector<std::string> words) {
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  Invocation invocation;
  app.add_option("arguments", invocation.arguments);
  std::vector<std::vector<std::string>> values(command.options.size());
  std::vector<CLI::Option*> options;
  for (std::size_t i = 0; i < command.options.size(); ++i) {
    const OptionSpec& option = command.options[i];
    const std::string name(option.name);
    options.push_back(option.value.empty()
                          ? app.add_flag(name)
                          : app.add_option(name, values[i])
                                ->expected(1)
                                // A word after a value is an argument, not a further value.
                                ->allow_extra_args(false)
                                ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll));
  }
  const std::string last = words.empty() ? "" : words.back();
  std::reverse(words.begin(), words.end());
  try {
    app.parse(words);
  } catch (const CLI::ArgumentMismatch&) {
    return fail(Code::kInvalid, option_without_value(command, last));
  } catch (const CLI::ParseError& error) {
    return fail(Code::kInvalid,
                std::string(command.name) + ": " + error.what() + usage_hint(command));
  }
  for (const std::string& word : app.remaining()) {
    if (word.size() > 1 && word.starts_with('-')) {
      return fail(Code::kInvalid, unknown_option(command, word));
    }
  }
  for (std::size_t i = 0; i < options.size(); ++i) {
    const OptionSpec& option = command.options[i];
    const bool is_path = option.value == "FILE" || option.value == "DIR";
    if (is_path && std::ranges::count(values[i], "") > 0) {
      return fail(Code::kInvalid, std::string(command.name) + ": " + std::string(option.name) +
                                      " needs a value, " + std::string(option.value) +
                                      ", and was given an empty one" + usage_hint(command));
    }
    if (options[i]->count() > 0) {
      invocation.options[std::string(option.name)] = std::move(values[i]);
    }
  }
  const Arity arity(command.argument);
  const auto given = std::ssize(invocation.arguments);
  if (given < arity.fewest || given > arity.most) {
    return fail(Code::kInvalid, std::string(command.name) + " " +
                                    arguments_wanted(command.argument) + usage_hint(command));
  }
  return invocation;
}

bool asks_for_help(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word == "--help" || word == "-h") return true;
    if (word == "--") return false;
  }
  return false;
}

Exit run_help(const std::vector<std::string>& words) {
  if (words.empty() || asks_for_help({words.front()})) {
    print(help_page());
    return Exit::done();
  }
  const Command* command = find_command(words.front());
  if (command == nullptr) return unknown_command(words.front());
  print(help_page(part_of(*command, {words.begin() + 1, words.end()})));
  return Exit::done();
}

}  // namespace

Exit run_command_line(const std::vector<std::string>& words) {
  const LaunchEnd launch = LaunchEnd::handed_over();
  if (words.empty()) {
    print(help_page());
    return Exit::refused("name a command, as in forebay train job.toml");
  }
  const std::string& first = words.front();
  std::vector<std::string> rest(words.begin() + 1, words.end());
  if (first == "help") return run_help(rest);
  if (first == "--help" || first == "-h") return run_help({});
  if (first == "--version" || first == "-V") {
    print(version_page());
    return Exit::done();
  }
  const Command* whole = find_command(first);
  if (whole == nullptr) return unknown_command(first);
  const Command& command = part_of(*whole, rest);
  if (&command != whole) rest.erase(rest.begin());
  if (asks_for_help(rest)) {
    print(help_page(command));
    return Exit::done();
  }
  auto invocation = parse_arguments(command, rest);
  if (!invocation) return Exit::refused(invocation.error());
  Exit exit = command.run(*invocation);
  print_stop(*invocation, exit);
  launch.tell(exit.status);
  return exit;
}

}  // namespace forebay
