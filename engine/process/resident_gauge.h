#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/descriptor.h"

namespace forebay {

/// Reads the resident bytes of this process often: through one file that stays open. Any thread.
class ResidentGauge {
 public:
  ResidentGauge();

  /// Returns the kernel's current count (VmRSS); 0 if it is not available.
  std::uint64_t bytes() const;

 private:
  const Descriptor statm_;
};

/// Returns the second number of /proc/self/statm, in pages; 0 if it is missing.
std::uint64_t resident_pages(std::string_view statm);

}  // namespace forebay
