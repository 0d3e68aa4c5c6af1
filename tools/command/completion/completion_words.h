#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/command/commands.h"

namespace forebay {

// What the table of commands says about the words of a command line, for every shell's script.

/// What completes one word of a command line: some words, files, or nothing.
struct Expected {
  std::string words = {};  ///< With blanks between them.
  bool files = false;
};

/// Reads how the help shows an argument or an option's value. Small letters are words to be typed,
/// as in `slurm|k8s|ssh`; capitals name what is to be given, as in `JOB`.
Expected expected_of(std::string_view shown);

/// Returns the arguments of a command as its help shows them, one by one.
std::vector<std::string> arguments_of(const Command& command);

/// Calls `use` with each command and each of their parts, by their full names.
void for_each_command(const std::function<void(const Command&)>& use);

/// Returns the names of all commands, and `help`, with blanks between them.
std::string command_names();

/// Returns the last word of a command's full name: `compare` of `tune compare`.
std::string last_word(std::string_view name);

}  // namespace forebay
