#include "trainer/torch/kernels/interaction.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "trainer/torch/kernels/clones.h"

namespace forebay {
namespace {

// A block is one AVX register. GCC 12 takes wider vectors apart through the stack on machines
// without AVX-512, which makes a product ten times as slow.
constexpr std::size_t kBlock = 8;
using Block = float __attribute__((vector_size(kBlock * sizeof(float)), aligned(4)));
/// Vectors whose products with a block of others are made together, each sum in a register.
constexpr std::size_t kTile = 4;

FOREBAY_INLINE void load(const float* from, Block& block) {
  std::memcpy(&block, from, sizeof(block));
}

/// Writes the products of `count` vectors, kTile at most, from number `first` on with all vectors
/// before them. `zt` is [dim, padded], the vectors as columns; `pairs` has the products of all
/// vectors, those of vector i from i · (i - 1) / 2 on. Each product is summed from the first
/// dimension to the last.
FOREBAY_INLINE void dots_of(const float* z, const float* zt, std::size_t first, std::size_t count,
                            std::size_t dim, std::size_t padded, float* pairs) {
  const float* own[kTile];
  for (std::size_t k = 0; k < kTile; ++k) own[k] = z + (first + (k < count ? k : 0)) * dim;
  for (std::size_t other = 0; other + 1 < first + count; other += kBlock) {
    Block sums[kTile] = {};
    for (std::size_t d = 0; d < dim; ++d) {
      Block column;
      load(zt + d * padded + other, column);
      for (std::size_t k = 0; k < kTile; ++k) sums[k] += own[k][d] * column;
    }
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t i = first + k;
      float* out = pairs + i * (i - 1) / 2 + other;
      if (other + kBlock <= i) {
        std::memcpy(out, &sums[k], sizeof(Block));
      } else {
        for (std::size_t j = 0; other + j < i; ++j) out[j] = sums[k][j];
      }
    }
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
    for (std::size_t i = 1; i < vectors; i += kTile) {
      const std::size_t count = std::min(kTile, vectors - i);
      if (dim == 16) {
        dots_of(z, zt, i, count, 16, padded, out + dim);
      } else {
        dots_of(z, zt, i, count, dim, padded, out + dim);
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

/// The common width, with a vector in two registers.
FOREBAY_INLINE void backward_row_of_16(const float* z, const float* gradient, std::size_t vectors,
                                       float* dz) {
  constexpr std::size_t kDim = 2 * kBlock;
  std::memcpy(dz, gradient, kDim * sizeof(float));
  const float* pair = gradient + kDim;
  for (std::size_t i = 1; i < vectors; ++i) {
    Block zi[2];
    load(z + i * kDim, zi[0]);
    load(z + i * kDim + kBlock, zi[1]);
    Block dzi[2] = {};
    for (std::size_t j = 0; j < i; ++j) {
      const float g = *pair++;
      for (std::size_t half = 0; half < 2; ++half) {
        float* to = dz + j * kDim + half * kBlock;
        Block zj;
        Block dzj;
        load(z + j * kDim + half * kBlock, zj);
        load(to, dzj);
        dzi[half] += g * zj;
        dzj += g * zi[half];
        std::memcpy(to, &dzj, sizeof(dzj));
      }
    }
    std::memcpy(dz + i * kDim, dzi, sizeof(dzi));
  }
}

FOREBAY_CLONES void backward_rows(const Interaction& shape, const float* z, const float* gradient,
                                  std::size_t rows, float* dz, float* bottom, float* pooled,
                                  std::size_t pooled_stride) {
  const std::size_t vectors = shape.vectors;
  const std::size_t dim = shape.dim;
  for (std::size_t row = 0; row < rows; ++row) {
    if (dim == 2 * kBlock) {
      backward_row_of_16(z, gradient, vectors, dz);
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
