#include "core/base/open_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <limits>
#include <memory>

namespace forebay {
namespace {

constexpr int kTries = 20;
constexpr int kPauseMilliseconds = 20;
constexpr rlim_t kMostDescriptors = 65'536;

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): the process's, as its limit.
std::atomic<rlim_t> first_limit{0};

}  // namespace

std::size_t descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::numeric_limits<int>::max();
  return static_cast<std::size_t>(
      std::min<rlim_t>(limit.rlim_cur, std::numeric_limits<int>::max()));
}

std::size_t free_descriptors() {
  const std::size_t limit = descriptor_limit();
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir("/proc/self/fd"), &::closedir);
  if (open == nullptr) return is_out_of_descriptors(errno) ? 0 : limit;
  std::size_t names = 0;
  while (::readdir(open.get()) != nullptr) ++names;
  constexpr std::size_t kOthers = 3;  // ".", ".." and the listing itself
  return limit - std::min(limit, names - std::min(names, kOthers));
}

bool is_out_of_descriptors(int error) { return error == EMFILE || error == ENFILE; }

std::string system_words(int error) {
  std::string words = std::strerror(error);
  if (error == EMFILE) {
    words += " (this process may have " + std::to_string(descriptor_limit()) + "; raise ulimit -n)";
  }
  if (error == ENFILE) words += " (raise fs.file-max of this machine)";
  return words;
}

bool DescriptorWait::again(int error) {
  if (!is_out_of_descriptors(error) || tries_ == kTries) return false;
  ++tries_;
  ::poll(nullptr, 0, kPauseMilliseconds);
  return true;
}

int open_file(const std::string& path, int flags, unsigned mode) {
  DescriptorWait wait;
  int file = -1;
  do {
    file = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (file < 0 && wait.again(errno));
  return file;
}

std::filesystem::directory_iterator open_folder(const std::string& path, std::error_code& error) {
  DescriptorWait wait;
  std::filesystem::directory_iterator entries(path, error);
  while (wait.again(error.value())) entries = std::filesystem::directory_iterator(path, error);
  return entries;
}

Descriptor open_direct(const std::string& path, int flags) {
  constexpr unsigned kMode = 0644;
  const int file = open_file(path, flags | O_DIRECT, kMode);
  if (file >= 0 || errno != EINVAL) return Descriptor(file);
  if ((flags & O_EXCL) != 0) ::unlink(path.c_str());  // created, then not opened
  return Descriptor(open_file(path, flags, kMode));
}

void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kMostDescriptors) return;
  const rlim_t first = limit.rlim_cur;
  limit.rlim_cur = std::min(limit.rlim_max, kMostDescriptors);
  if (limit.rlim_cur > first && ::setrlimit(RLIMIT_NOFILE, &limit) == 0) first_limit = first;
}

std::string with_first_descriptor_limit(const std::string& command) {
  const rlim_t first = first_limit;
  if (first == 0) return command;
  return "ulimit -S -n " + std::to_string(first) + "\n" + command;
}

}  // namespace forebay
