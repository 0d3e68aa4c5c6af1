#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "actors/source/dataset.h"
#include "core/base/result.h"
#include "tools/bench/bench_folder.h"

namespace forebay {

/// A folder of made-up Criteo files to measure with, gone with it.
class BenchData {
 public:
  /// Says on stderr where it writes. kUnavailable when there is no room, or when asked to stop.
  static Result<BenchData> make(std::uint64_t rows);

  const std::string& folder() const { return folder_.path(); }
  Result<std::unique_ptr<Dataset>> open() const;

 private:
  explicit BenchData(BenchFolder folder) : folder_(std::move(folder)) {}

  BenchFolder folder_;
};

}  // namespace forebay
