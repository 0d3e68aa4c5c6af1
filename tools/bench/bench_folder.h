#pragma once

#include <string>
#include <utility>

#include "core/base/result.h"

namespace forebay {

/// A benchmark's temporary folder below TMPDIR; removed with this object.
class BenchFolder {
 public:
  static Result<BenchFolder> make();
  BenchFolder(BenchFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  BenchFolder& operator=(BenchFolder&&) = delete;
  ~BenchFolder();

  const std::string& path() const { return path_; }

 private:
  explicit BenchFolder(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace forebay
