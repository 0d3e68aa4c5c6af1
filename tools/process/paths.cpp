#include "tools/process/paths.h"

#include <fcntl.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "core/base/descriptor.h"

namespace forebay {

Result<std::string> own_path() {
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return fail(Code::kUnavailable, "/proc/self/exe: " + error.message());
  return path.string();
}

Status check_output_path(const std::string& option, const std::string& path) {
  namespace fs = std::filesystem;
  const auto refuse = [&](const std::string& why) {
    return fail(Code::kInvalid, option + " " + path + ": " + why);
  };
  std::error_code ignored;
  const fs::file_status there = fs::status(path, ignored);
  if (fs::is_directory(there)) return refuse("Is a directory");
  if (fs::exists(there) && !fs::is_regular_file(there)) return refuse("not a regular file");
  // Creates a file, since permissions alone do not tell whether a folder such as /proc is writable.
  std::string trial = path + ".XXXXXX";
  const Descriptor made(::mkostemp(trial.data(), O_CLOEXEC));
  if (!made) return refuse(std::generic_category().message(errno));
  fs::remove(trial, ignored);
  return {};
}

}  // namespace forebay
