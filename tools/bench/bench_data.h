#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "actors/source/dataset.h"
#include "core/base/result.h"

namespace forebay {

/// One line of `forebay bench`: the measured value, and the limit measured in the same run.
struct BenchResult {
  std::string name;
  double value = 0;
  std::string unit;
  std::optional<double> limit;  ///< The limit's value, in the same unit.
  std::optional<double> ratio;  ///< value / limit, or limit / value if smaller is better.
};

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

/// A temporary folder with made-up Criteo files for measurements; removed with this object.
class BenchData {
 public:
  /// Prints on stderr where it writes. kUnavailable: the disk is full, or a stop was requested.
  static Result<BenchData> make(std::uint64_t rows);

  const std::string& folder() const { return folder_.path(); }
  Result<std::unique_ptr<Dataset>> open() const;

 private:
  explicit BenchData(BenchFolder folder) : folder_(std::move(folder)) {}

  BenchFolder folder_;
};

}  // namespace forebay
