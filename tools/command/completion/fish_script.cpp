#include <string>

#include "core/base/text/shell_word.h"
#include "tools/command/completion/completion_words.h"
#include "tools/command/completion/scripts.h"

namespace forebay {
namespace {

/// Functions that the lines for fish ask.
std::string fish_functions() {
  std::string cases;
  for (const Command& command : all_commands()) {
    for (const Command& part : command.parts) cases += " '" + std::string(part.name) + "'";
  }
  return "function __forebay_words\n"
         "  commandline -opc\n"
         "end\n"
         "# The command before the cursor, with its part: tune compare\n"
         "function __forebay_command\n"
         "  set -l words (__forebay_words)\n"
         "  set -l pair \"$words[2] $words[3]\"\n"
         "  if contains -- $pair" +
         cases +
         "\n"
         "    echo $pair\n"
         "  else\n"
         "    echo \"$words[2]\"\n"
         "  end\n"
         "end\n"
         "function __forebay_runs\n"
         "  test (__forebay_command) = \"$argv\"\n"
         "end\n"
         "# Whether the cursor is at the first word after these\n"
         "function __forebay_after\n"
         "  set -l words (__forebay_words)\n"
         "  set -e words[1]\n"
         "  test \"$words\" = \"$argv\"\n"
         "end\n";
}

std::string fish_option(const OptionSpec& option) {
  std::string line = " -l " + std::string(option.name.substr(2));
  if (!option.value.empty()) {
    const Expected expected = expected_of(option.value);
    line += expected.files ? " -r -F" : " -x";
    if (!expected.words.empty()) line += " -a '" + expected.words + "'";
  }
  return line + " -d " + shell_word(option.help) + "\n";
}

/// The lines of one command or part: its options, its first word, and whether files follow.
std::string fish_command(const Command& command) {
  const std::string name(command.name);
  const std::string runs = "complete -c forebay -n '__forebay_runs " + name + "'";
  const std::string after = "complete -c forebay -n '__forebay_after " + name + "'";
  std::string lines;
  for (const OptionSpec& option : command.options) lines += runs + fish_option(option);
  for (const Command& part : command.parts) {
    lines += after + " -f -a " + last_word(part.name) + " -d " + shell_word(part.summary) + "\n";
  }
  bool files = false;
  const auto arguments = arguments_of(command);
  for (std::size_t i = 0; command.parts.empty() && i < arguments.size(); ++i) {
    const Expected expected = expected_of(arguments[i]);
    files = files || expected.files;
    if (!expected.words.empty()) lines += after + " -f -a '" + expected.words + "'\n";
  }
  return files ? lines : lines + runs + " -f\n";
}

}  // namespace

std::string fish_script() {
  std::string lines = fish_functions();
  for (const Command& command : all_commands()) {
    lines += "complete -c forebay -n __fish_use_subcommand -f -a " + std::string(command.name) +
             " -d " + shell_word(command.summary) + "\n";
  }
  for_each_command([&](const Command& command) { lines += fish_command(command); });
  return lines + "complete -c forebay -n '__forebay_after help' -f -a '" + command_names() +
         "'\n"
         "complete -c forebay -n __fish_use_subcommand -l version -d 'versions'\n"
         "complete -c forebay -l help -d 'how a command is used'\n";
}

}  // namespace forebay
