#include "engine/job/text_file.h"

#include <filesystem>
#include <system_error>

#include "core/base/whole_file.h"

namespace forebay {

Result<std::string> read_text_file(std::string_view kind, const std::string& path) {
  std::error_code error;
  const auto refuse = [&](const std::string& what) {
    return fail(Code::kInvalid, std::string(kind) + " " + what);
  };
  if (std::filesystem::is_directory(path, error)) {
    return refuse(path + ": is a folder; name the file in it");
  }
  auto text = read_whole(path, kMostTextBytes);
  if (text) return text;
  if (text.error().code == Code::kNotFound) {
    return fail(Code::kNotFound, std::string(kind) + " " + text.error().message);
  }
  if (text.error().code == Code::kCorrupt &&
      std::filesystem::file_size(path, error) > kMostTextBytes && !error) {
    return refuse(path + ": is larger than 4 MiB; is it a data file?");
  }
  return refuse(text.error().message);
}

bool names_a_file(const std::string& address) {
  return address.find("://") == std::string::npos && address.find('/') != std::string::npos;
}

}  // namespace forebay
