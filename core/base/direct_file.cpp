#include "core/base/direct_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace forebay {

Descriptor open_direct(const std::string& path, int flags) {
  constexpr mode_t kMode = 0644;
  const int file = ::open(path.c_str(), flags | O_DIRECT | O_CLOEXEC, kMode);
  if (file >= 0 || errno != EINVAL) return Descriptor(file);
  if ((flags & O_EXCL) != 0) ::unlink(path.c_str());  // made, and then not opened
  return Descriptor(::open(path.c_str(), flags | O_CLOEXEC, kMode));
}

}  // namespace forebay
