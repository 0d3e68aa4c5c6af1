#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "actors/source/dataset.h"
#include "core/base/result.h"
#include "tools/bench/bench_folder.h"

namespace forebay {

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
