#include "trainer/saving/checkpoint_names.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/base/open_files.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "checkpoint-";
constexpr std::string_view kUnfinished = ".tmp-";
constexpr std::string_view kSetAside = ".tmp-old-";
constexpr std::size_t kLeastDigits = 9;

bool is_checkpoint_after(std::string_view prefix, std::string_view name) {
  return name.starts_with(prefix) && is_checkpoint_name(name.substr(prefix.size()));
}

}  // namespace

bool is_checkpoint_name(std::string_view name) {
  if (!name.starts_with(kPrefix)) return false;
  name.remove_prefix(kPrefix.size());
  return name.size() >= kLeastDigits &&
         std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
}

std::string checkpoint_name(std::uint64_t batches) {
  std::array<char, 32> number{};
  std::snprintf(number.data(), number.size(), "%0*llu", static_cast<int>(kLeastDigits),
                static_cast<unsigned long long>(batches));
  return std::string(kPrefix) + number.data();
}

bool is_before(const std::string& a, const std::string& b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

Result<std::vector<std::string>> list_checkpoints(const std::string& directory) {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator entry = open_folder(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    std::string name = entry->path().filename().string();
    if (is_checkpoint_name(name)) found.push_back(std::move(name));
  }
  if (error) {
    return fail(Code::kUnavailable, directory + ": cannot be read: " + system_words(error.value()));
  }
  std::ranges::sort(found, is_before);
  return found;
}

std::vector<std::string> checkpoint_names(const std::string& directory) {
  auto found = list_checkpoints(directory);
  return found ? std::move(*found) : std::vector<std::string>();
}

std::string unfinished_name(const std::string& checkpoint) {
  return std::string(kUnfinished) + checkpoint;
}

std::string set_aside_name(const std::string& checkpoint) {
  return std::string(kSetAside) + checkpoint;
}

bool is_unfinished(std::string_view name) { return is_checkpoint_after(kUnfinished, name); }

bool is_set_aside(std::string_view name) { return is_checkpoint_after(kSetAside, name); }

}  // namespace forebay
