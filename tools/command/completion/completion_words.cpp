#include "tools/command/completion/completion_words.h"

#include <algorithm>
#include <cctype>

#include "core/base/text/text.h"

namespace forebay {

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

std::vector<std::string> arguments_of(const Command& command) {
  std::vector<std::string> shown;
  for (std::string_view rest = command.argument; !rest.empty();) {
    shown.emplace_back(take_until(rest, ' '));
  }
  return shown;
}

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

}  // namespace forebay
