#pragma once

#include <cstddef>

namespace forebay {

/// DeepFM's second-order part (Rendle 2010; Guo et al. 2017): the sum of the dot products of all
/// pairs of a row's vectors, computed as ½ Σ_d ((Σ_f v[f][d])² − Σ_f v[f][d]²).
///
/// A row's vectors have `dim` values each and begin `stride` apart.
struct Factorisation {
  std::size_t vectors = 0;
  std::size_t dim = 0;
  std::size_t stride = 0;

  /// Adds each row's sum to out[row].
  void forward(const float* z, std::size_t rows, float* out) const;

  /// Adds out_gradient[row] times the derivative for vector f of row r to gradient + f ·
  /// feature_stride + r · stride.
  void backward(const float* z, const float* out_gradient, std::size_t rows, float* gradient,
                std::size_t feature_stride) const;
};

}  // namespace forebay
