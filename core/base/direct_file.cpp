#include "core/base/direct_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "core/base/open_files.h"

namespace forebay {

Descriptor open_direct(const std::string& path, int flags) {
  constexpr unsigned kMode = 0644;
  const int file = open_file(path, flags | O_DIRECT, kMode);
  if (file >= 0 || errno != EINVAL) return Descriptor(file);
  if ((flags & O_EXCL) != 0) ::unlink(path.c_str());  // created, then not opened
  return Descriptor(open_file(path, flags, kMode));
}

}  // namespace forebay
