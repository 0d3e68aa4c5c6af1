#pragma once

#include <cstdint>

namespace forebay {

/// Decides where splits are made when the pipeline's own stages are not the only place.
class SplitDispatch {
 public:
  virtual ~SplitDispatch() = default;

  /// Split `number` may be made now, here (Pipeline::make) or on another node (Pipeline::accept):
  /// its window bytes are reserved. Called on the batch actor's thread, or on the thread that makes
  /// the pipeline.
  virtual void issued(std::uint64_t number) = 0;

  /// This pipeline's own stages finished the split, with `rows` rows, before any other node did;
  /// other nodes may stop making it. Called on a stage's thread.
  virtual void made_here(std::uint64_t number, std::uint64_t rows) = 0;
};

}  // namespace forebay
