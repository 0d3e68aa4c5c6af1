#include "tools/process/own_path.h"

#include <filesystem>

namespace forebay {

Result<std::string> own_path() {
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return fail(Code::kUnavailable, "/proc/self/exe: " + error.message());
  return path.string();
}

}  // namespace forebay
