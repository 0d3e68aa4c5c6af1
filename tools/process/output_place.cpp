#include "tools/process/output_place.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace forebay {

Status check_output_place(const std::string& option, const std::string& path) {
  namespace fs = std::filesystem;
  const auto refuse = [&](const std::string& why) {
    return fail(Code::kInvalid, option + " " + path + ": " + why);
  };
  std::error_code ignored;
  const fs::file_status there = fs::status(path, ignored);
  if (fs::is_directory(there)) return refuse("Is a directory");
  if (fs::exists(there) && !fs::is_regular_file(there)) return refuse("not a regular file");
  const fs::path folder = fs::path(path).parent_path();
  const bool writable = ::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) == 0;
  return writable ? Status() : refuse(std::generic_category().message(errno));
}

}  // namespace forebay
