#include <algorithm>
#include <string>

#include "tools/command/command_line.h"

namespace forebay {
namespace {

std::string padded(std::string_view text, std::size_t width) {
  std::string line = "  " + std::string(text);
  line.resize(std::max(line.size() + 2, width + 4), ' ');
  return line;
}

std::string format_option(const OptionSpec& option) {
  return std::string(option.name) + (option.value.empty() ? "" : " " + std::string(option.value));
}

}  // namespace

std::string help_page() {
  std::string page =
      "Forebay keeps a recommendation model's trainer fed.\n\n"
      "usage: forebay COMMAND …\n\ncommands:\n";
  constexpr std::size_t kNameWidth = 14;
  for (const Command& command : all_commands()) {
    if (command.run == nullptr) continue;
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
  if (!command.argument.empty()) {
    const std::string argument(command.argument);
    page += command.fewest_arguments == 0 ? " [" + argument + "]" : " " + argument;
  }
  if (!command.options.empty()) page += " [OPTION…]";
  page += "\n\n" + std::string(command.summary) + "\n";
  if (command.run == nullptr) return page + "\nThis command is not in this version.\n";
  if (!command.parts.empty()) page += "\ncommands:\n";
  for (const Command& part : command.parts) {
    if (part.run != nullptr) page += padded(part.name, 14) + std::string(part.summary) + "\n";
  }
  page += "\noptions:\n";
  std::size_t width = std::string_view("--help").size();
  for (const OptionSpec& option : command.options)
    width = std::max(width, format_option(option).size());
  for (const OptionSpec& option : command.options) {
    page += padded(format_option(option), width) + std::string(option.help) + "\n";
  }
  page += padded("--help", width) + "this page\n";
  return page + "\nexample:\n" + std::string(command.example) + "\n";
}

}  // namespace forebay
