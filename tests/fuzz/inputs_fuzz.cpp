#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/check.h"
#include "engine/outputs/inputs.h"

/// Any bytes as another process' list of inputs: reading gives an error, or a list that is written
/// with the same bytes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto inputs = forebay::parse_inputs(bytes);
  if (!inputs) return 0;
  FOREBAY_CHECK(forebay::parse_inputs(to_bytes(*inputs)) == *inputs);
  return 0;
}
