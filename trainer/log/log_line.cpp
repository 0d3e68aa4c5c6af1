#include "trainer/log/log_line.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace forebay {

Status append_record(const std::string& path, const Descriptor& file, std::string_view record) {
  const ssize_t written = ::write(file.number(), record.data(), record.size());
  if (written == static_cast<ssize_t>(record.size())) return {};
  return fail(Code::kUnavailable, path + ": cannot be written: " +
                                      (written < 0 ? std::strerror(errno) : "the disk is full"));
}

}  // namespace forebay
