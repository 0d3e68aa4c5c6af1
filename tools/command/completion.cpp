#include <algorithm>
#include <cctype>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/text/shell_word.h"
#include "core/base/text/text.h"
#include "tools/command/commands.h"

namespace forebay {
namespace {

/// What completes one word of a command line: some words, files, or nothing.
struct Expected {
  std::string words = {};  ///< With blanks between them.
  bool files = false;
};

/// Reads how the help shows an argument or an option's value. Small letters are words to be typed,
/// as in `slurm|k8s|ssh`; capitals name what is to be given, as in `JOB`.
Expected expected_of(std::string_view shown) {
  const std::string name = replaced(std::string(shown), "…", "");
  if (std::ranges::any_of(name, [](unsigned char c) { return std::islower(c) != 0; }) &&
      !name.ends_with(".so")) {
    return {.words = replaced(name, "|", " ")};
  }
  const std::string bare = replaced(replaced(name, "[", ""), "]", "");
  constexpr std::string_view kFiles[] = {"JOB",        "FILE",     "FILE-OR-JOB", "DIR",
                                         "PATH",       "PIPELINE", "LOG",         "ADDR|FILE",
                                         "CHECKPOINT", "LIB.so",   "DIR:DIR..."};
  return {.files = std::ranges::count(kFiles, bare) > 0};
}

/// Returns the arguments of a command as its help shows them, one by one.
std::vector<std::string> arguments_of(const Command& command) {
  std::vector<std::string> shown;
  for (std::string_view rest = command.argument; !rest.empty();) {
    shown.emplace_back(take_until(rest, ' '));
  }
  return shown;
}

/// Calls `use` with each command and each of their parts, by their full names.
void for_each_command(const std::function<void(const Command&)>& use) {
  for (const Command& command : all_commands()) {
    use(command);
    std::ranges::for_each(command.parts, use);
  }
}

std::string command_names() {
  std::string names = "help";
  for (const Command& command : all_commands()) names += " " + std::string(command.name);
  return names;
}

std::string last_word(std::string_view name) {
  return std::string(name.substr(name.rfind(' ') + 1));
}

std::string part_names(const Command& command) {
  std::vector<std::string> names;
  for (const Command& part : command.parts) names.push_back(last_word(part.name));
  return joined(names, " ");
}

/// Returns the names of a command's options, or of those that take a value.
std::string option_names(const Command& command, bool with_values) {
  std::vector<std::string> names;
  if (!with_values) names.emplace_back("--help");
  for (const OptionSpec& option : command.options) {
    if (!with_values || !option.value.empty()) names.emplace_back(option.name);
  }
  return joined(names, " ");
}

// The functions below return branches of a shell's `case` statement.

std::string branch(const std::string& pattern, const std::string& does) {
  return "    " + pattern + ") " + does + " ;;\n";
}

std::string bash_parts() {
  std::string cases;
  for (const Command& command : all_commands()) {
    for (const Command& part : command.parts) {
      cases += branch('"' + std::string(part.name) + '"', "command=$pair first=3");
    }
  }
  return cases;
}

std::string bash_options() {
  std::string cases;
  for_each_command([&](const Command& command) {
    cases += branch('"' + std::string(command.name) + '"',
                    "options=\"" + option_names(command, false) + "\" valued=\" " +
                        option_names(command, true) + " \"");
  });
  return cases;
}

std::string bash_branch(const std::string& pattern, const Expected& expected) {
  if (expected.files) return branch(pattern, "files=1");
  return expected.words.empty() ? "" : branch(pattern, "words=\"" + expected.words + '"');
}

std::string bash_values() {
  std::string cases;
  for_each_command([&](const Command& command) {
    for (const OptionSpec& option : command.options) {
      const std::string pattern =
          '"' + std::string(command.name) + " " + std::string(option.name) + '"';
      cases += bash_branch(pattern, expected_of(option.value));
    }
  });
  return cases;
}

std::string bash_arguments() {
  std::string cases;
  for_each_command([&](const Command& command) {
    const auto arguments = arguments_of(command);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const bool any_number = arguments[i].find("…") != std::string::npos;
      const std::string place = any_number ? "*" : std::to_string(i + 1);
      const std::string name = '"' + std::string(command.name) + " \"";
      const Expected expected = command.parts.empty() ? expected_of(arguments[i])
                                                      : Expected{.words = part_names(command)};
      cases += bash_branch(name + place, expected);
    }
  });
  return cases + bash_branch("\"help \"1", {.words = command_names()});
}

/// bash splits words at `=`, too: `--out=DIR` are three words. zsh, whose arrays begin at 0 here,
/// runs the same function.
std::string bash_function() {
  return "_forebay() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} option=\"\" place=1\n"
         "  local options=\"\" valued=\"\" words=\"\" files=\"\" first=2 i\n"
         "  COMPREPLY=()\n"
         "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
         "    COMPREPLY=($(compgen -W \"" +
         command_names() +
         " --help --version\" -- \"$current\"))\n"
         "    return\n"
         "  fi\n"
         "  if [ \"$COMP_CWORD\" -gt 2 ]; then\n"
         "    local pair=\"$command ${COMP_WORDS[2]}\"\n"
         "    case $pair in\n" +
         bash_parts() +
         "    esac\n"
         "  fi\n"
         "  case $command in\n" +
         bash_options() +
         "  esac\n"
         "  for ((i = first; i < COMP_CWORD; i++)); do\n"
         "    case ${COMP_WORDS[i]} in\n"
         "      =) ((i++)) ;;\n"
         "      -*)\n"
         "        if [[ $valued == *\" ${COMP_WORDS[i]} \"* ]]; then\n"
         "          option=${COMP_WORDS[i]}\n"
         "          ((i++))\n"
         "          [[ ${COMP_WORDS[i]} == \"=\" ]] && ((i++))\n"
         "        fi ;;\n"
         "      *) ((place++)) ;;\n"
         "    esac\n"
         "  done\n"
         "  [[ $current == \"=\" ]] && current=\"\"\n"
         "  if ((i > COMP_CWORD)); then\n"
         "    case \"$command $option\" in\n" +
         bash_values() +
         "    esac\n"
         "  elif [[ $current == -* ]]; then\n"
         "    words=$options\n"
         "  else\n"
         "    case \"$command $place\" in\n" +
         bash_arguments() +
         "    esac\n"
         "  fi\n"
         "  if [ -n \"$files\" ]; then\n"
         "    local IFS=$'\\n'\n"
         "    COMPREPLY=($(compgen -f -- \"$current\"))\n"
         "  elif [ -n \"$words\" ]; then\n"
         "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "  fi\n"
         "}\n"
         "complete -o filenames -F _forebay forebay\n";
}

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

std::string fish_lines() {
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

/// Returns a completion script for `bash`, `zsh` or `fish`; "" for other shells.
std::string completion_script(std::string_view shell) {
  if (shell == "bash") return bash_function();
  if (shell == "zsh") {
    return "#compdef forebay\nautoload -U +X bashcompinit && bashcompinit\n" + bash_function();
  }
  if (shell == "fish") return fish_lines();
  return "";
}

}  // namespace

Exit run_completion(const Invocation& invocation) {
  const std::string script = completion_script(invocation.arguments.front());
  if (script.empty()) {
    return Exit::refused("completion " + invocation.arguments.front() +
                         ": no such shell; bash, zsh and fish are known");
  }
  std::fwrite(script.data(), 1, script.size(), stdout);
  return Exit::done();
}

}  // namespace forebay
