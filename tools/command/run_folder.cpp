#include "tools/command/run_folder.h"

#include <filesystem>

namespace forebay {

std::string run_folder(const Invocation& invocation) {
  const std::string folder = invocation.value("--dir", ".");
  const std::string inside = folder + "/.forebay";
  std::error_code error;
  return std::filesystem::is_directory(inside, error) ? inside : folder;
}

}  // namespace forebay
