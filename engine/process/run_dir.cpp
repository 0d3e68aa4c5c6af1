#include "engine/process/run_dir.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "core/base/file_lock.h"
#include "engine/process/machine.h"

namespace forebay {

namespace {

tl::unexpected<Error> unwritable(const std::string& path, const std::string& why) {
  return fail(Code::kInvalid,
              "run.dir " + path + ": " + why + "; set run.dir to a folder that you can write");
}

}  // namespace

Result<RunDir> RunDir::hold(const std::string& path) {
  if (path.empty()) return unwritable("\"\"", "is no folder");
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return unwritable(path, error.message());
  const std::string file = path + "/lock";
  Descriptor lock(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!lock) return unwritable(file, std::strerror(errno));
  if (!try_lock(lock)) {
    return fail(Code::kUnavailable,
                path + " is in use by process " + proc_text(file) +
                    "; wait for it, or give this run its own with --set run.dir=DIR");
  }
  const std::string pid = std::to_string(::getpid());
  const bool written =
      ::ftruncate(lock.number(), 0) == 0 &&
      ::pwrite(lock.number(), pid.data(), pid.size(), 0) == static_cast<ssize_t>(pid.size());
  if (!written) return fail(Code::kUnavailable, "run.dir " + file + ": " + std::strerror(errno));
  return RunDir(std::move(lock));
}

}  // namespace forebay
