#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "core/base/result.h"

namespace forebay::tuner {

/// A file of lines; a whole line is in it when add() returns. Belongs to one thread.
class LineLog {
 public:
  /// Creates the file, replacing an older one. kInvalid names the file and the reason.
  static Result<LineLog> create(const std::string& path);

  /// Writes a line, without its end.
  Status add(const std::string& line);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  LineLog(std::string path, std::FILE* file) : path_(std::move(path)), file_(file) {}

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace forebay::tuner
