#include "tools/doctor/disk_checks.h"

#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "engine/job/quantity.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kTight = std::uint64_t{1} << 30;
constexpr std::uint64_t kFull = std::uint64_t{32} << 20;

fs::path nearest_there(const std::string& path) {
  std::error_code error;
  fs::path place = fs::absolute(path, error);
  while (!fs::exists(place, error) && place.has_relative_path()) place = place.parent_path();
  return place;
}

}  // namespace

std::uint64_t free_bytes(const std::string& path) {
  struct statvfs disk = {};
  if (::statvfs(nearest_there(path).c_str(), &disk) != 0) return 0;
  return static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize;
}

Finding check_writable_path(const std::string& name, const std::string& key,
                            const std::string& path) {
  const fs::path there = nearest_there(path);
  std::error_code error;
  errno = fs::is_directory(there, error) ? 0 : ENOTDIR;
  if (errno != 0 || ::access(there.c_str(), W_OK | X_OK) != 0) {
    const std::string why = std::strerror(errno);
    return {name, Finding::Verdict::kBad, key + " " + path + ": cannot be written (" + why + ")",
            "set " + key + " to a folder of yours"};
  }
  const std::uint64_t free = free_bytes(path);
  const std::string left = path + " has " + format_size(free) + " of disk left";
  if (free < kFull) return {name, Finding::Verdict::kBad, left, "make room, or set " + key};
  if (free < kTight) return Finding::warn(name, left, "make room, or set " + key);
  return Finding::ok(name, left);
}

Finding check_open_files(std::uint64_t wanted) {
  rlimit limit = {};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const std::string most = limit.rlim_cur == RLIM_INFINITY
                               ? "any number of files may be open at once"
                               : format_count(limit.rlim_cur) + " files may be open at once";
  if (wanted <= limit.rlim_cur) return Finding::ok("open files", most);
  return Finding::warn("open files", most + ", the job may want " + format_count(wanted),
                       "raise the limit: ulimit -n " + std::to_string(wanted));
}

}  // namespace forebay
