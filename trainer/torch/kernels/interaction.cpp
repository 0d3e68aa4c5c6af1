#include "trainer/torch/kernels/interaction.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "trainer/torch/kernels/clones.h"

namespace forebay {
namespace {

// A block of products is one AVX-512 register; on narrower machines the compiler splits it.
constexpr std::size_t kBlock = 16;
using Block = float __attribute__((vector_size(kBlock * sizeof(float)), aligned(4)));

/// Writes the products of vector i with all before it, a block at a time; later products overwrite
/// the surplus of a block. `zt` is [dim, padded], the vectors as columns.
FOREBAY_INLINE void dots_of(const float* zi, const float* zt, std::size_t i, std::size_t dim,
                            std::size_t padded, float* out) {
  for (std::size_t first = 0; first < i; first += kBlock) {
    Block sum = {};
    for (std::size_t d = 0; d < dim; ++d) {
      Block column;
      std::memcpy(&column, zt + d * padded + first, sizeof(column));
      sum += zi[d] * column;
    }
    std::memcpy(out + first, &sum, sizeof(sum));
  }
}

FOREBAY_CLONES void forward_rows(const Interaction& shape, const float* z, std::size_t rows,
                                 float* zt, float* out) {
  const std::size_t vectors = shape.vectors;
  const std::size_t dim = shape.dim;
  const std::size_t padded = (vectors + kBlock - 1) / kBlock * kBlock;
  for (std::size_t row = 0; row < rows; ++row, z += vectors * dim, out += shape.width()) {
    for (std::size_t v = 0; v < vectors; ++v) {
      for (std::size_t d = 0; d < dim; ++d) zt[d * padded + v] = z[v * dim + d];
    }
    std::memcpy(out, z, dim * sizeof(float));
    float* pairs = out + dim;
    for (std::size_t i = 1; i < vectors; pairs += i, ++i) {
      if (dim == 16) {
        dots_of(z + i * dim, zt, i, 16, padded, pairs);
      } else {
        dots_of(z + i * dim, zt, i, dim, padded, pairs);
      }
    }
  }
}

/// One row: dz[i] = Σ_j g(i,j) z[j] over all j ≠ i, plus the gradient that the first vector passes
/// on directly.
FOREBAY_INLINE void backward_row(const float* z, const float* gradient, std::size_t vectors,
                                 std::size_t dim, float* dz) {
  std::memcpy(dz, gradient, dim * sizeof(float));
  const float* pair = gradient + dim;
  for (std::size_t i = 1; i < vectors; ++i) {
    const float* zi = z + i * dim;
    float* dzi = dz + i * dim;
    for (std::size_t d = 0; d < dim; ++d) dzi[d] = 0;
    for (std::size_t j = 0; j < i; ++j) {
      const float g = *pair++;
      const float* zj = z + j * dim;
      float* dzj = dz + j * dim;
      for (std::size_t d = 0; d < dim; ++d) {
        dzi[d] += g * zj[d];
        dzj[d] += g * zi[d];
      }
    }
  }
}

/// The common width, with a vector in a register.
FOREBAY_INLINE void backward_row_of_blocks(const float* z, const float* gradient,
                                           std::size_t vectors, float* dz) {
  std::memcpy(dz, gradient, sizeof(Block));
  const float* pair = gradient + kBlock;
  for (std::size_t i = 1; i < vectors; ++i) {
    Block zi;
    std::memcpy(&zi, z + i * kBlock, sizeof(zi));
    Block dzi = {};
    for (std::size_t j = 0; j < i; ++j) {
      const float g = *pair++;
      Block zj;
      Block dzj;
      std::memcpy(&zj, z + j * kBlock, sizeof(zj));
      std::memcpy(&dzj, dz + j * kBlock, sizeof(dzj));
      dzi += g * zj;
      dzj += g * zi;
      std::memcpy(dz + j * kBlock, &dzj, sizeof(dzj));
    }
    std::memcpy(dz + i * kBlock, &dzi, sizeof(dzi));
  }
}

FOREBAY_CLONES void backward_rows(const Interaction& shape, const float* z, const float* gradient,
                                  std::size_t rows, float* dz, float* bottom, float* pooled,
                                  std::size_t pooled_stride) {
  const std::size_t vectors = shape.vectors;
  const std::size_t dim = shape.dim;
  for (std::size_t row = 0; row < rows; ++row) {
    if (dim == kBlock) {
      backward_row_of_blocks(z, gradient, vectors, dz);
    } else {
      backward_row(z, gradient, vectors, dim, dz);
    }
    std::memcpy(bottom + row * dim, dz, dim * sizeof(float));
    for (std::size_t v = 1; v < vectors; ++v) {
      std::memcpy(pooled + (v - 1) * pooled_stride + row * dim, dz + v * dim, dim * sizeof(float));
    }
    z += vectors * dim;
    gradient += shape.width();
  }
}

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

void Interaction::forward(const float* z, std::size_t rows, float* out) const {
  const std::size_t padded = (vectors + kBlock - 1) / kBlock * kBlock;
  std::vector<float> columns(dim * padded);
  forward_rows(*this, z, rows, columns.data(), out);
}

void Interaction::backward(const float* z, const float* gradient, std::size_t rows, float* bottom,
                           float* pooled, std::size_t pooled_stride) const {
  std::vector<float> dz(vectors * dim);
  backward_rows(*this, z, gradient, rows, dz.data(), bottom, pooled, pooled_stride);
}

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
