#pragma once

#include <span>
#include <string>

#include "core/base/result.h"
#include "tuner/agent/network.h"

namespace forebay::tuner {

/// Encodes the file of a network's weights: 8 bytes of magic with a version, three layer widths
/// (uint32), the weights (float32), a 64-bit checksum of all bytes before it; little-endian.
std::string encode_weights(const Network& network);

/// Returns kCorrupt, naming `where` and the error: another version, another shape than `shape`,
/// damage.
Result<Network> decode_weights(std::span<const unsigned char> bytes, Network::Shape shape,
                               const std::string& where);

/// Reads a file of weights; reads at most the bytes that `shape` requires.
Result<Network> read_weights(const std::string& path, Network::Shape shape);

/// The weights that this build contains (intune.weights here, made by `forebay tune pretrain`).
std::span<const unsigned char> shipped_weights();

}  // namespace forebay::tuner
