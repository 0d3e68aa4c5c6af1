#pragma once

#include <cstdint>

namespace forebay {

/// Decides where splits are made when the pipeline's own stages are not the only place.
class SplitDispatch {
 public:
  virtual ~SplitDispatch() = default;

  /// This split may be made now, here (Pipeline::make) or elsewhere (Pipeline::accept): there is
  /// room for it. On the batch actor's thread, or the one that makes the pipeline.
  virtual void issued(std::uint64_t number) = 0;

  /// This pipeline's own stages have made it, with so many rows, before anyone else did: whoever
  /// else makes it may stop. On a stage's thread.
  virtual void made_here(std::uint64_t number, std::uint64_t rows) = 0;
};

}  // namespace forebay
