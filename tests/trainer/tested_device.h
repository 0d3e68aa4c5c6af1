#pragma once

#include <cstdlib>
#include <string>

namespace forebay::test {

/// The device on which models for devices are tested: `FOREBAY_TEST_DEVICE`, as "cuda", or "cpu".
inline std::string tested_device() {
  const char* const set = std::getenv("FOREBAY_TEST_DEVICE");
  return set != nullptr && *set != '\0' ? set : "cpu";
}

}  // namespace forebay::test
