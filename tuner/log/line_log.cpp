#include "tuner/log/line_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/all_bytes.h"
#include "core/base/open_files.h"

namespace forebay::tuner {

Result<LineLog> LineLog::create(const std::string& path) {
  constexpr unsigned kNewFile = 0666;  // less the umask
  Descriptor file(open_file(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, kNewFile));
  if (!file) return fail(Code::kInvalid, "decision log " + path + ": " + std::strerror(errno));
  return LineLog(path, std::move(file));
}

Status LineLog::add(const std::string& line) {
  const std::string whole = line + '\n';
  if (write_all(file_.number(), whole)) {
    bytes_ += static_cast<off_t>(whole.size());
    return {};
  }
  const std::string why = std::strerror(errno);
  static_cast<void>(::ftruncate(file_.number(), bytes_));
  return fail(Code::kUnavailable, "decision log " + path_ + ": " + why);
}

}  // namespace forebay::tuner
