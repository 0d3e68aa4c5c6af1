#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace forebay {

/// A figure under the name that TensorBoard groups it by: `train/loss`.
struct Scalar {
  std::string_view tag;
  float value = 0;
};

/// Encodes TensorBoard's input: tensorflow.Event messages (event.proto, summary.proto), each in a
/// TFRecord frame. `wall` is in seconds since 1970. Pure functions.
///
/// The first record of every file.
std::string version_record(double wall);
/// Marks that a run begins, or continues, after `step`: TensorBoard then ignores the later steps of
/// earlier files.
std::string start_record(double wall, std::uint64_t step);
std::string scalars_record(double wall, std::uint64_t step, std::span<const Scalar> scalars);

/// A TFRecord frame: length, its masked CRC-32C, the content, its masked CRC-32C; little-endian.
std::string framed(std::string_view content);

}  // namespace forebay
