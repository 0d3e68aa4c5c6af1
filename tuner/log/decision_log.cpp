#include "tuner/log/decision_log.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/json_fields.h"
#include "core/base/json_text.h"
#include "tuner/log/decision_fields.h"

namespace forebay::tuner {
namespace {

template <class T>
std::string line_of(const T& value) {
  T copy = value;  // The list of fields also serves reading, so it needs a mutable value.
  return json_text(JsonFieldWriter::written(copy));
}

}  // namespace

std::string to_line(const Decision& decision) { return line_of(decision); }
std::string to_line(const LogHeader& header) { return line_of(header); }

Result<DecisionLogWriter> DecisionLogWriter::create(const std::string& path,
                                                    const LogHeader& header) {
  std::FILE* file = std::fopen(path.c_str(), "we");
  if (file == nullptr) {
    return fail(Code::kInvalid, "decision log " + path + ": " + std::strerror(errno));
  }
  DecisionLogWriter writer(path, file);
  if (auto status = writer.write(to_line(header)); !status) return pass(status);
  return writer;
}

Status DecisionLogWriter::add(const Decision& decision) { return write(to_line(decision)); }

Status DecisionLogWriter::write(const std::string& line) {
  const std::string whole = line + '\n';
  const std::size_t written = std::fwrite(whole.data(), 1, whole.size(), file_.get());
  if (written != whole.size() || std::fflush(file_.get()) != 0) {
    return fail(Code::kUnavailable, "decision log " + path_ + ": " + std::strerror(errno));
  }
  return {};
}

}  // namespace forebay::tuner
