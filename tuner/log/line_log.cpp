#include "tuner/log/line_log.h"

#include <cerrno>
#include <cstring>

namespace forebay::tuner {

Result<LineLog> LineLog::create(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "we");
  if (file == nullptr) {
    return fail(Code::kInvalid, "decision log " + path + ": " + std::strerror(errno));
  }
  return LineLog(path, file);
}

Status LineLog::add(const std::string& line) {
  const std::string whole = line + '\n';
  const std::size_t written = std::fwrite(whole.data(), 1, whole.size(), file_.get());
  if (written != whole.size() || std::fflush(file_.get()) != 0) {
    return fail(Code::kUnavailable, "decision log " + path_ + ": " + std::strerror(errno));
  }
  return {};
}

}  // namespace forebay::tuner
