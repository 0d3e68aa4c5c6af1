#include "engine/train/learned_state.h"

#include <filesystem>
#include <string_view>
#include <system_error>

#include "core/base/whole_file.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "tuner/";
constexpr std::size_t kMostBytes = std::size_t{64} << 20;

}  // namespace

std::map<std::string, std::string> saved_learned_state(const std::string& run_dir) {
  std::map<std::string, std::string> kept;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(fs::path(run_dir) / kPrefix, error)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(kAside)) continue;
    auto text = read_whole(entry.path(), kMostBytes);
    if (text) kept.emplace(std::string(kPrefix) + name, std::move(*text));
  }
  return kept;
}

void restore_learned_state(const std::map<std::string, std::string>& texts,
                           const std::string& run_dir) {
  for (const auto& [name, text] : texts) {
    if (!name.starts_with(kPrefix)) continue;
    const fs::path path = fs::path(run_dir) / name;
    std::error_code error;
    if (fs::exists(path, error)) continue;
    fs::create_directories(path.parent_path(), error);
    static_cast<void>(replace_whole(path, text, Sync::kNo));
  }
}

}  // namespace forebay
