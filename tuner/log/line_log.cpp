#include "tuner/log/line_log.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace forebay::tuner {

Result<LineLog> LineLog::create(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "we");
  if (file == nullptr) {
    return fail(Code::kInvalid, "decision log " + path + ": " + std::strerror(errno));
  }
  std::setvbuf(file, nullptr, _IONBF, 0);
  return LineLog(path, file);
}

Status LineLog::add(const std::string& line) {
  const std::string whole = line + '\n';
  if (std::fwrite(whole.data(), 1, whole.size(), file_.get()) == whole.size()) {
    bytes_ += static_cast<off_t>(whole.size());
    return {};
  }
  const std::string why = std::strerror(errno);
  static_cast<void>(::ftruncate(::fileno(file_.get()), bytes_));
  ::fseeko(file_.get(), bytes_, SEEK_SET);
  return fail(Code::kUnavailable, "decision log " + path_ + ": " + why);
}

}  // namespace forebay::tuner
