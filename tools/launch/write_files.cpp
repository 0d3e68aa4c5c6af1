#include <algorithm>
#include <filesystem>
#include <string_view>

#include "core/base/whole_file.h"
#include "core/data/digest.h"
#include "engine/job/text_file.h"
#include "tools/launch/launch_spec.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStamp = "# as written by forebay launch: ";

std::string stamped(const std::string& content) {
  return content + std::string(kStamp) + Digest::of(content.data(), content.size()).hex() + "\n";
}

bool is_untouched(const std::string& text) {
  const std::size_t at = text.rfind(kStamp);
  return at != std::string::npos && stamped(text.substr(0, at)) == text;
}

Status check_writable_path(const std::string& path, const LaunchFile& file, Edited edited) {
  std::error_code error;
  if (file.users || edited == Edited::kReplace || !fs::exists(path, error)) return {};
  auto text = read_text_file("launch: file", path);
  if (!text) return pass(text);
  if (is_untouched(*text)) return {};
  return fail(Code::kInvalid, path +
                                  " was edited since launch wrote it: add --force to write it "
                                  "anew, or --out DIR to write elsewhere");
}

Status write_one(const std::string& path, const std::string& content, std::uint32_t mode) {
  auto written = replace_whole(path, content, Sync::kNo, mode);
  if (!written) return fail(written.error().code, "cannot write " + written.error().message);
  return {};
}

bool suits_a_secret(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  });
}

Status append_keys(const std::string& folder, const std::string& inner,
                   std::vector<KeyFile>& keys) {
  constexpr std::uintmax_t kMostKeyBytes = 64U << 10;
  std::error_code error;
  fs::directory_iterator entries(fs::path(folder) / inner, error);
  if (error) {
    return fail(Code::kInvalid, "cluster.keys " + folder + "/" + inner + ": " + error.message() +
                                    "; forebay keys new makes such a folder");
  }
  for (const fs::directory_entry& entry : entries) {
    if (!entry.is_regular_file(error)) continue;
    const std::string name = entry.path().filename().string();
    if (entry.file_size(error) > kMostKeyBytes || error || !suits_a_secret(name)) {
      return fail(Code::kInvalid, "cluster.keys " + entry.path().string() +
                                      ": is no key file; a folder that forebay keys new made "
                                      "holds nothing else");
    }
    auto content = read_text_file("cluster.keys", entry.path().string());
    if (!content) return pass(content);
    keys.push_back({inner + name, std::move(*content)});
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>> write_files(const std::string& folder,
                                             const std::vector<LaunchFile>& files, Edited edited) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return fail(Code::kInvalid, folder + " cannot be made: " + error.message());
  for (const LaunchFile& file : files) {
    auto status = check_writable_path((fs::path(folder) / file.name).string(), file, edited);
    if (!status) return pass(status);
  }
  std::vector<std::string> paths;
  paths.reserve(files.size());
  for (const LaunchFile& file : files) {
    paths.push_back((fs::path(folder) / file.name).string());
    if (file.users && fs::exists(paths.back(), error)) continue;
    if (auto status = write_one(paths.back(), stamped(file.content), file.mode); !status) {
      return pass(status);
    }
  }
  return paths;
}

Result<std::vector<KeyFile>> read_keys(const std::string& folder) {
  std::vector<KeyFile> keys;
  for (const char* inner : {"", "clients/"}) {
    if (auto status = append_keys(folder, inner, keys); !status) return pass(status);
  }
  if (keys.empty()) {
    return fail(Code::kInvalid, "cluster.keys " + folder + ": holds no keys; forebay keys new " +
                                    folder + " makes them");
  }
  std::ranges::sort(keys, {}, &KeyFile::name);
  return keys;
}

}  // namespace forebay
