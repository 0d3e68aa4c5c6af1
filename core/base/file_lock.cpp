#include "core/base/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

#include "core/base/open_files.h"

namespace forebay {

bool try_lock(const Descriptor& file) {
  return ::flock(file.number(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

Result<Descriptor> lock_folder(const std::string& folder, const std::string& taken) {
  Descriptor held(open_file(folder, O_RDONLY | O_DIRECTORY));
  if (!held) {
    return fail(Code::kUnavailable, folder + ": cannot be opened: " + system_words(errno));
  }
  if (!try_lock(held)) return fail(Code::kUnavailable, folder + ": " + taken);
  return held;
}

}  // namespace forebay
