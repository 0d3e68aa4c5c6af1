#include <string>

#include "tools/command/command_line.h"

namespace forebay {
namespace {

std::string command_names() {
  std::string names = "help";
  for (const Command& command : all_commands()) names += " " + std::string(command.name);
  return names;
}

std::string option_names(const Command& command) {
  std::string names = "--help";
  for (const Command& part : command.parts) {
    names += std::string(part.name.substr(command.name.size()));
  }
  for (const OptionSpec& option : command.options) names += " " + std::string(option.name);
  return names;
}

// Returns one branch for each command of a shell's `case` statement, in the shell's syntax.
std::string bash_cases() {
  std::string cases;
  for (const Command& command : all_commands()) {
    cases += "    " + std::string(command.name) + ") words=\"" + option_names(command) + "\" ;;\n";
  }
  return cases;
}

std::string bash_function() {
  return "_forebay() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} words=\"\"\n"
         "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
         "    COMPREPLY=($(compgen -W \"" +
         command_names() +
         " --help --version\" -- \"$current\"))\n"
         "    return\n"
         "  fi\n"
         "  case ${COMP_WORDS[1]} in\n"
         "    help) COMPREPLY=($(compgen -W \"" +
         command_names() + "\" -- \"$current\")); return ;;\n" + bash_cases() +
         "  esac\n"
         "  if [[ $current == -* ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "  else\n"
         "    COMPREPLY=($(compgen -f -- \"$current\"))\n"
         "  fi\n"
         "}\n"
         "complete -o filenames -F _forebay forebay\n";
}

// Puts text into single quotes for fish and zsh.
std::string quoted(std::string_view text) {
  std::string result = "'";
  for (char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

std::string fish_lines() {
  std::string lines;
  for (const Command& command : all_commands()) {
    const std::string name(command.name);
    lines += "complete -c forebay -n __fish_use_subcommand -f -a " + name + " -d " +
             quoted(command.summary) + "\n";
    for (const OptionSpec& option : command.options) {
      lines += "complete -c forebay -n '__fish_seen_subcommand_from " + name + "' -l " +
               std::string(option.name.substr(2)) + (option.value.empty() ? "" : " -r") + " -d " +
               quoted(option.help) + "\n";
    }
  }
  return lines + "complete -c forebay -n __fish_use_subcommand -l version -d 'versions'\n";
}

}  // namespace

std::string completion_script(std::string_view shell) {
  if (shell == "bash") return bash_function();
  if (shell == "zsh") {
    return "#compdef forebay\nautoload -U +X bashcompinit && bashcompinit\n" + bash_function();
  }
  if (shell == "fish") return fish_lines();
  return "";
}

}  // namespace forebay
