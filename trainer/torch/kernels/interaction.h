#pragma once

#include <cstddef>

#include "trainer/torch/kernels/clones.h"

namespace forebay {

/// DLRM's pairwise dot interaction (Naumov et al. 2019): of `vectors` vectors of `dim` values, the
/// first is the bottom MLP's output; a row's features are that vector followed by the dot products
/// of each pair (i, j), j < i, in the order (1,0), (2,0), (2,1), …
struct Interaction {
  std::size_t vectors = 0;
  std::size_t dim = 0;
  /// Whether to use the machine's registers of 512 bits, which changes no bit of the results.
  bool in_avx512 = machine_has_avx512();

  std::size_t width() const { return dim + vectors * (vectors - 1) / 2; }

  /// Entries that `forward` may write past the last row's features.
  static constexpr std::size_t kSlack = 16;

  /// `z` is [rows, vectors, dim], `out` [rows, width()] and kSlack more entries.
  void forward(const float* z, std::size_t rows, float* out) const;

  /// Computes the gradients of the vectors from those of the features, [rows, width()]: of the
  /// first into `bottom` [rows, dim]; of vector 1 + f of row r into pooled + f · pooled_stride + r
  /// · dim.
  void backward(const float* z, const float* gradient, std::size_t rows, float* bottom,
                float* pooled, std::size_t pooled_stride) const;
};

}  // namespace forebay
