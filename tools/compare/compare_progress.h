#pragma once

#include <atomic>
#include <cstdint>

#include "core/base/clock.h"

namespace forebay {

/// Prints on stderr how many runs are done: one live line on a terminal, else a line every five
/// seconds at most.
class CompareProgress {
 public:
  CompareProgress(const Clock& clock, std::uint64_t runs, bool terminal);

  /// Any thread may call it.
  void done(std::uint64_t count);
  /// Ends the live line on a terminal.
  void finish() const;

 private:
  const Clock& clock_;
  std::uint64_t runs_;
  bool terminal_;
  std::int64_t begin_;
  std::atomic<std::int64_t> next_;
};

}  // namespace forebay
