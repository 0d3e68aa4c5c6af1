#include "core/net/key_folder.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/net/curve_keys.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

/// Two writes further apart than this have different file times on every file system.
constexpr std::chrono::seconds kSettled{2};

/// A file that is being copied may hold no key for a moment; it is reported only after this time.
constexpr std::chrono::seconds kUnderWay{1};

/// The maximum number of problems reported in full by one scan.
constexpr std::size_t kNamedAtOnce = 4;

std::int64_t in_ns(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

bool is_of_the_moment(const std::error_code& error) {
  return error == std::errc::too_many_files_open ||
         error == std::errc::too_many_files_open_in_system ||
         error == std::errc::not_enough_memory || error == std::errc::interrupted;
}

}  // namespace

KeyFolder::Stamp KeyFolder::stamp_of(const struct stat& info) {
  return {.device = info.st_dev,
          .number = info.st_ino,
          .size = info.st_size,
          .written = in_ns(info.st_mtim),
          .changed = in_ns(info.st_ctim)};
}

KeyFolder::Stamp KeyFolder::stamp_of(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? stamp_of(info) : Stamp{};
}

bool KeyFolder::has(const std::string& key, Time now) {
  if (key.empty()) return false;
  if (now >= next_look_ || stamp_of(folder_) != folder_stamp_) look_now(now);
  return std::ranges::any_of(files_, [&](auto& entry) {
    auto& [path, file] = entry;
    if (file.key != key) return false;
    refresh(path, file, now);  // The file may have been removed or written since the last scan.
    return file.key == key;
  });
}

void KeyFolder::look(Time now) {
  if (now >= next_look_) look_now(now);
}

void KeyFolder::look_now(Time now) {
  next_look_ = now + kPeriod;
  // Read before the files are listed, so that the next scan finds files added meanwhile.
  folder_stamp_ = stamp_of(folder_);
  std::vector<std::string> paths;
  if (!list(paths)) return;
  for (auto& [path, file] : files_) file.listed = false;
  for (const std::string& path : paths) {
    const auto [found, fresh] = files_.try_emplace(path);
    if (fresh) found->second.since = now;
    found->second.listed = true;
    refresh(path, found->second, now);
  }
  std::erase_if(files_, [](const auto& entry) { return !entry.second.listed; });
  name_problems(now);
}

/// Lists the folder's key files. False if a temporary error prevents that; the known keys stay
/// then.
bool KeyFolder::list(std::vector<std::string>& paths) {
  std::error_code error;
  std::size_t left_out = 0;
  fs::directory_iterator entry(folder_, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (entry->path().extension() != ".key") continue;
    if (paths.size() < kMostFiles) {
      paths.push_back(entry->path().string());
    } else {
      ++left_out;
    }
  }
  if (is_of_the_moment(error)) return false;
  std::string problem;
  if (error) {
    paths.clear();
    problem = "key folder " + folder_ + ": cannot be read: " + error.message() +
              "; no node can join until it can";
  } else if (left_out > 0) {
    problem = "key folder " + folder_ + ": has more than " + std::to_string(kMostFiles) +
              " key files; the others do not count, remove some";
  }
  if (problem != folder_problem_ && !problem.empty() && say_) say_(problem);
  folder_problem_ = std::move(problem);
  return true;
}

void KeyFolder::refresh(const std::string& path, File& file, Time now) {
  const Stamp stamp = stamp_of(path);
  if (stamp != file.stamp) {
    const bool listed = file.listed;
    file = File();
    file.stamp = stamp;
    file.since = now;
    file.listed = listed;
  }
  if (file.read >= file.since + kSettled) return;
  auto key = read_key(path);
  if (!key && key.error().code == Code::kUnavailable) return;
  file.read = now;
  file.key = key ? std::move(*key) : "";
  std::string problem = key ? "" : std::move(key.error().message);
  if (problem.empty()) file.named = false;
  file.problem = std::move(problem);
}

void KeyFolder::name_problems(Time now) {
  std::size_t number = 0;
  for (auto& [path, file] : files_) {
    if (file.problem.empty() || file.named || now - file.since < kUnderWay) continue;
    file.named = true;
    if (++number <= kNamedAtOnce && say_) {
      say_(file.problem + "; it is skipped, the other keys count: replace or remove the file");
    }
  }
  if (number > kNamedAtOnce && say_) {
    say_("key folder " + folder_ + ": " + std::to_string(number - kNamedAtOnce) +
         " other *.key files hold no key, either");
  }
}

}  // namespace forebay
