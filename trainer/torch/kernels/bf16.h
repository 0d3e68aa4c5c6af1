#pragma once

#include <cstdint>
#include <span>

namespace forebay {

/// Adds values in bfloat16, given by their bits, to sums: each run of sums.size() values, of which
/// there may be several, value by value in their order.
void add_bf16(std::span<const std::uint16_t> values, std::span<float> sums);

/// Whether libtorch multiplies matrices in bfloat16 by vector instructions on this machine. Without
/// them it does so value by value, which takes a hundred times as long.
bool machine_multiplies_bf16();

}  // namespace forebay
