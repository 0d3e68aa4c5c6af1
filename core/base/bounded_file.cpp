#include "core/base/bounded_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/base/descriptor.h"
#include "core/base/open_files.h"

namespace forebay {
namespace {

constexpr std::size_t kPiece = std::size_t{64} << 10;

tl::unexpected<Error> refused(const std::string& path) {
  const int reason = errno;
  return fail(reason == ENOENT ? Code::kNotFound : Code::kUnavailable,
              path + ": " + system_words(reason));
}

tl::unexpected<Error> too_large(const std::string& path, std::size_t most) {
  return fail(Code::kCorrupt,
              path + ": is larger than the " + std::to_string(most) + " bytes it can have");
}

}  // namespace

Result<std::string> read_bounded_file(const std::string& path, std::size_t most) {
  // Without O_NONBLOCK opening a FIFO waits until something writes into it.
  const Descriptor file(open_file(path, O_RDONLY | O_NONBLOCK));
  struct stat info {};
  if (!file || ::fstat(file.number(), &info) != 0) return refused(path);
  if (!S_ISREG(info.st_mode)) return fail(Code::kInvalid, path + ": is not a regular file");
  if (static_cast<std::size_t>(info.st_size) > most) return too_large(path, most);
  std::string text;
  while (text.size() <= most) {
    const std::size_t before = text.size();
    text.resize(before + std::min(kPiece, most + 1 - before));
    const ssize_t got = ::read(file.number(), text.data() + before, text.size() - before);
    if (got < 0 && errno != EINTR) return refused(path);
    text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) return text;
  }
  return too_large(path, most);
}

}  // namespace forebay
