#pragma once

#include <cstddef>
#include <cstdint>

#include "actors/transform/floor_mod.h"

namespace forebay {

/// The inner loops of the operators, in place over one column, compiled for one CpuLevel.
///
/// Dense kernels keep `missing` unchanged unless they say otherwise, and turn every other NaN into
/// kNanBits. No libm, no fused multiply-add, no reassociation: every level computes exactly the
/// expressions in kernel_loops.cpp.
struct Kernels {
  /// log(1 + max(x, 0)), within 2 ulp.
  void (*log1p)(float* values, std::size_t count);
  /// log(p / (1 - p)) for p = x clamped to [eps, 1 - eps]; computed in double, rounded once.
  void (*logit)(float* values, std::size_t count, double eps);
  /// (x^lambda - 1) / lambda of max(x, low), log x if lambda is 0; computed in double, rounded
  /// once.
  void (*box_cox)(float* values, std::size_t count, double lambda, double low);
  /// min(max(x, low), high).
  void (*clamp)(float* values, std::size_t count, float low, float high);
  /// `missing` becomes `value`.
  void (*fill)(float* values, std::size_t count, float value);
  /// The bucket of each value: the number of borders below it, plus one if it equals a border that
  /// is listed twice; -1 for a NaN. `borders` ascend, each at most twice.
  void (*bucketize)(const float* values, std::size_t count, const float* borders,
                    std::size_t num_borders, std::int64_t* buckets);

  /// The id's hash modulo the divisor (actors/transform/id_hash.h).
  void (*sigrid_hash)(std::int64_t* ids, std::size_t count, std::uint64_t salt, FloorMod modulus);
  /// The id modulo the divisor, rounded toward minus infinity.
  void (*floor_mod)(std::int64_t* ids, std::size_t count, FloorMod modulus);
  void (*clamp_ids)(std::int64_t* ids, std::size_t count, std::int64_t low, std::int64_t high);
};

}  // namespace forebay
