#include <string>
#include <string_view>
#include <vector>

#include "core/base/text/text.h"
#include "tools/command/completion/completion_words.h"
#include "tools/command/completion/scripts.h"

namespace forebay {
namespace {

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

std::string branches_of_parts() {
  std::string cases;
  for (const Command& command : all_commands()) {
    for (const Command& part : command.parts) {
      cases += branch('"' + std::string(part.name) + '"', "command=$pair first=3");
    }
  }
  return cases;
}

std::string branches_of_options() {
  std::string cases;
  for_each_command([&](const Command& command) {
    cases += branch('"' + std::string(command.name) + '"',
                    "options=\"" + option_names(command, false) + "\" valued=\" " +
                        option_names(command, true) + " \"");
  });
  return cases;
}

std::string branch_for(const std::string& pattern, const Expected& expected) {
  if (expected.files) return branch(pattern, "files=1");
  return expected.words.empty() ? "" : branch(pattern, "words=\"" + expected.words + '"');
}

std::string branches_of_values() {
  std::string cases;
  for_each_command([&](const Command& command) {
    for (const OptionSpec& option : command.options) {
      const std::string pattern =
          '"' + std::string(command.name) + " " + std::string(option.name) + '"';
      cases += branch_for(pattern, expected_of(option.value));
    }
  });
  return cases;
}

std::string branches_of_arguments() {
  std::string cases;
  for_each_command([&](const Command& command) {
    const auto arguments = arguments_of(command);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const bool any_number = arguments[i].find("…") != std::string::npos;
      const std::string place = any_number ? "*" : std::to_string(i + 1);
      const std::string name = '"' + std::string(command.name) + " \"";
      const Expected expected = command.parts.empty() ? expected_of(arguments[i])
                                                      : Expected{.words = part_names(command)};
      cases += branch_for(name + place, expected);
    }
  });
  return cases + branch_for("\"help \"1", {.words = command_names()});
}

}  // namespace

// bash splits words at `=`, too: `--out=DIR` are three words. zsh, whose arrays begin at 0 here,
// runs the same function.
std::string bash_script() {
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
         branches_of_parts() +
         "    esac\n"
         "  fi\n"
         "  case $command in\n" +
         branches_of_options() +
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
         branches_of_values() +
         "    esac\n"
         "  elif [[ $current == -* ]]; then\n"
         "    words=$options\n"
         "  else\n"
         "    case \"$command $place\" in\n" +
         branches_of_arguments() +
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

}  // namespace forebay
