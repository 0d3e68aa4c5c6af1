#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>

#include "core/base/text/text.h"
#include "core/base/text/utf8.h"
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

}  // namespace forebay
