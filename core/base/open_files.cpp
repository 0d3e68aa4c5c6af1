#include "core/base/open_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <memory>

namespace forebay {
namespace {

constexpr int kTries = 20;
constexpr int kPauseMilliseconds = 20;

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

}  // namespace forebay
