#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/descriptor.h"

namespace forebay {

/// Resident bytes of this process, read often: through one file that stays open. Any thread.
class ResidentGauge {
 public:
  ResidentGauge();

  /// As the kernel counts now (VmRSS); 0 where it does not say.
  std::uint64_t bytes() const;

 private:
  const Descriptor statm_;
};

/// The second number of /proc/self/statm, pages; 0 where there is none.
std::uint64_t resident_pages(std::string_view statm);

}  // namespace forebay
