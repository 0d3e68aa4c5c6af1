#pragma once

#include <sys/types.h>

#include <string>
#include <utility>

#include "core/base/descriptor.h"
#include "core/base/result.h"

namespace forebay::tuner {

/// A file of lines; a whole line is in it when add() returns, or nothing of it after an error: what
/// a full disk took of it is cut off again. Belongs to one thread.
class LineLog {
 public:
  /// Creates the file, replacing an older one. kInvalid names the file and the reason.
  static Result<LineLog> create(const std::string& path);

  /// Writes a line, without its end. kUnavailable: a full disk, say; a later line may succeed.
  Status add(const std::string& line);

 private:
  LineLog(std::string path, Descriptor file) : path_(std::move(path)), file_(std::move(file)) {}

  std::string path_;
  Descriptor file_;  // that appends
  off_t bytes_ = 0;  // of whole lines
};

}  // namespace forebay::tuner
