#include "trainer/torch/kernels/factorisation.h"

#include <algorithm>
#include <vector>

#include "trainer/torch/kernels/clones.h"

namespace forebay {
namespace {

FOREBAY_INLINE void add_up(const Factorisation& shape, const float* z, float* sums) {
  std::fill_n(sums, shape.dim, 0.0f);
  for (std::size_t vector = 0; vector < shape.vectors; ++vector) {
    const float* v = z + vector * shape.stride;
    for (std::size_t d = 0; d < shape.dim; ++d) sums[d] += v[d];
  }
}

FOREBAY_CLONES void sum_pairs(const Factorisation& shape, const float* z, std::size_t rows,
                              float* sums, float* out) {
  for (std::size_t row = 0; row < rows; ++row, z += shape.vectors * shape.stride) {
    add_up(shape, z, sums);
    float twice = 0;
    for (std::size_t d = 0; d < shape.dim; ++d) twice += sums[d] * sums[d];
    for (std::size_t vector = 0; vector < shape.vectors; ++vector) {
      const float* v = z + vector * shape.stride;
      for (std::size_t d = 0; d < shape.dim; ++d) twice -= v[d] * v[d];
    }
    out[row] += twice / 2;
  }
}

FOREBAY_CLONES void spread_pairs(const Factorisation& shape, const float* z,
                                 const float* out_gradient, std::size_t rows, float* sums,
                                 float* gradient, std::size_t feature_stride) {
  for (std::size_t row = 0; row < rows; ++row, z += shape.vectors * shape.stride) {
    add_up(shape, z, sums);
    for (std::size_t vector = 0; vector < shape.vectors; ++vector) {
      const float* v = z + vector * shape.stride;
      float* g = gradient + vector * feature_stride + row * shape.stride;
      for (std::size_t d = 0; d < shape.dim; ++d) g[d] += out_gradient[row] * (sums[d] - v[d]);
    }
  }
}

}  // namespace

void Factorisation::forward(const float* z, std::size_t rows, float* out) const {
  std::vector<float> sums(dim);
  sum_pairs(*this, z, rows, sums.data(), out);
}

void Factorisation::backward(const float* z, const float* out_gradient, std::size_t rows,
                             float* gradient, std::size_t feature_stride) const {
  std::vector<float> sums(dim);
  spread_pairs(*this, z, out_gradient, rows, sums.data(), gradient, feature_stride);
}

}  // namespace forebay
