#include "engine/train/learned_state.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>

namespace forebay {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "tuner/";
constexpr std::uintmax_t kMostBytes = std::uintmax_t{64} << 20;
constexpr std::string_view kUnfinished = ".new";

}  // namespace

std::map<std::string, std::string> saved_learned_state(const std::string& run_dir) {
  std::map<std::string, std::string> kept;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(fs::path(run_dir) / kPrefix, error)) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_regular_file(error) || entry.file_size(error) > kMostBytes || error) continue;
    if (name.ends_with(kUnfinished)) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    if (file.good() || file.eof()) kept.emplace(std::string(kPrefix) + name, std::move(text));
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
    const std::string aside = path.string() + std::string(kUnfinished);
    std::ofstream file(aside, std::ios::binary | std::ios::trunc);
    file << text;
    file.close();
    if (file) fs::rename(aside, path, error);
  }
}

}  // namespace forebay
