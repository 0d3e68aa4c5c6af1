#include "core/base/whole_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <span>

#include "core/base/all_bytes.h"
#include "core/base/open_files.h"

namespace forebay {
namespace {

constexpr std::size_t kPiece = std::size_t{64} << 10;
constexpr mode_t kNewFile = 0666;  // less the umask

/// Returns the error of errno. Without permission, memory or descriptors the file may be readable
/// later.
tl::unexpected<Error> unreadable(const std::string& path) {
  const int reason = errno;
  if (reason == ENOENT) return fail(Code::kNotFound, path + ": " + system_words(reason));
  const bool passing =
      reason == EACCES || reason == EPERM || reason == ENOMEM || is_out_of_descriptors(reason);
  return fail(passing ? Code::kUnavailable : Code::kCorrupt,
              path + ": cannot be read: " + system_words(reason));
}

tl::unexpected<Error> too_large(const std::string& path, std::size_t limit) {
  return fail(Code::kCorrupt,
              path + ": is larger than the " + std::to_string(limit) + " bytes it can have");
}

/// Returns the error of errno.
tl::unexpected<Error> unwritable(const std::string& path) {
  const int reason = errno;
  const bool full = reason == ENOSPC || reason == EDQUOT || reason == EFBIG;
  return fail(full ? Code::kOverloaded : Code::kUnavailable, path + ": " + system_words(reason));
}

}  // namespace

Result<std::string> read_whole(const std::string& path, std::size_t limit) {
  // Without O_NONBLOCK opening a FIFO waits until something writes into it.
  const Descriptor file(open_file(path, O_RDONLY | O_NONBLOCK));
  struct stat info {};
  if (!file || ::fstat(file.number(), &info) != 0) return unreadable(path);
  if (!S_ISREG(info.st_mode)) return fail(Code::kInvalid, path + ": is not a regular file");
  if (static_cast<std::size_t>(info.st_size) > limit) return too_large(path, limit);
  std::string text;
  while (text.size() <= limit) {
    const std::size_t before = text.size();
    text.resize(before + std::min(kPiece, limit + 1 - before));
    const ssize_t got = ::read(file.number(), text.data() + before, text.size() - before);
    if (got < 0 && errno != EINTR) return unreadable(path);
    text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) return text;
  }
  return too_large(path, limit);
}

Result<FileAside> FileAside::create(const std::string& path, std::optional<mode_t> mode) {
  const std::string aside = path + kAside;
  ::unlink(aside.c_str());  // a killed process may have left one
  Descriptor file(open_file(aside, O_WRONLY | O_CREAT | O_EXCL, mode.value_or(kNewFile)));
  if (!file) return unwritable(path);
  FileAside made(path, std::move(file));
  if (mode && ::fchmod(made.file_.number(), *mode) != 0) return unwritable(path);
  return made;
}

FileAside::~FileAside() {
  if (!path_.empty()) ::unlink((path_ + kAside).c_str());
}

Status FileAside::write(std::string_view bytes) {
  if (!write_all(file_.number(), bytes)) return unwritable(path_);
  return {};
}

Status FileAside::rewrite(std::uint64_t offset, std::string_view bytes) {
  const auto all = std::as_bytes(std::span(bytes));
  if (!write_all_at(file_.number(), all, offset)) return unwritable(path_);
  return {};
}

Status FileAside::commit(Sync sync) {
  if (sync == Sync::kYes && ::fsync(file_.number()) != 0) return unwritable(path_);
  if (::close(file_.release()) != 0) return unwritable(path_);
  if (std::rename((path_ + kAside).c_str(), path_.c_str()) != 0) return unwritable(path_);
  path_.clear();
  return {};
}

Status replace_whole(const std::string& path, std::string_view text, Sync sync,
                     std::optional<mode_t> mode) {
  auto file = FileAside::create(path, mode);
  if (!file) return pass(file);
  if (auto written = file->write(text); !written) return written;
  return file->commit(sync);
}

}  // namespace forebay
