#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>

#include "core/base/text/shell_word.h"
#include "core/base/text/utf8.h"
#include "core/base/text/text.h"
#include "tools/command/commands.h"

namespace forebay {
namespace {

std::string padded(std::string_view text, std::size_t width) {
  const std::size_t shown = character_count(text);
  return "  " + std::string(text) + std::string(std::max(width, shown) + 2 - shown, ' ');
}

std::string format_option(const OptionSpec& option) {
  return std::string(option.name) + (option.value.empty() ? "" : " " + std::string(option.value));
}

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

std::string fish_lines() {
  std::string lines;
  for (const Command& command : all_commands()) {
    const std::string name(command.name);
    lines += "complete -c forebay -n __fish_use_subcommand -f -a " + name + " -d " +
             shell_word(command.summary) + "\n";
    for (const OptionSpec& option : command.options) {
      lines += "complete -c forebay -n '__fish_seen_subcommand_from " + name + "' -l " +
               std::string(option.name.substr(2)) + (option.value.empty() ? "" : " -r") + " -d " +
               shell_word(option.help) + "\n";
    }
  }
  return lines + "complete -c forebay -n __fish_use_subcommand -l version -d 'versions'\n";
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

std::string help_page() {
  std::string page =
      "Forebay keeps a recommendation model's trainer fed.\n\n"
      "usage: forebay COMMAND …\n\ncommands:\n";
  constexpr std::size_t kNameWidth = 14;
  for (const Command& command : all_commands()) {
    page += padded(command.name, kNameWidth) + std::string(command.summary) + "\n";
  }
  page += padded("help", kNameWidth) + "this page, or that of a command\n";
  return page +
         "\n"
         "forebay COMMAND --help explains a command and shows an example; forebay --version tells\n"
         "versions. Exit status: 0 done, 1 the run failed, 2 wrong usage or configuration,\n"
         "129, 130 and 143 stopped in order by SIGHUP, SIGINT and SIGTERM; a second signal stops "
         "at once.\n";
}

std::string help_page(const Command& command) {
  std::string page = "usage: forebay " + std::string(command.name);
  if (!command.argument.empty()) page += " " + std::string(command.argument);
  if (!command.options.empty()) page += " [OPTION…]";
  page += "\n\n" + std::string(command.summary) + "\n";
  if (!command.parts.empty()) page += "\ncommands:\n";
  for (const Command& part : command.parts) {
    page += padded(part.name, 14) + std::string(part.summary) + "\n";
  }
  page += "\noptions:\n";
  std::size_t width = std::string_view("--help").size();
  for (const OptionSpec& option : command.options)
    width = std::max(width, character_count(format_option(option)));
  for (const OptionSpec& option : command.options) {
    page += padded(format_option(option), width) + std::string(option.help) + "\n";
  }
  page += padded("--help", width) + "this page\n";
  return page + "\nexample:\n" + std::string(command.example) + "\n";
}

std::string version_page() {
  // The build sets `zlib 1.2.13|zstd 1.5.4|…`; one line for each here.
  std::string page = "forebay " FOREBAY_VERSION "\n";
  std::string_view rest = FOREBAY_LIBRARIES;
  while (!rest.empty()) page += "  " + std::string(take_until(rest, '|')) + "\n";
  return page;
}

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
