#include "trainer/torch/kernels/interaction.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "trainer/torch/kernels/clones.h"

namespace forebay {
namespace {

/// Vector registers. Wider ones than a function is compiled for would be taken apart through the
/// stack by GCC 12.
using Sse = float __attribute__((vector_size(16), aligned(4)));
using Avx = float __attribute__((vector_size(32), aligned(4)));
using Avx512 = float __attribute__((vector_size(64), aligned(4)));

/// Vectors whose sums are made together, enough of them to hide the latency of an addition.
constexpr std::size_t kTile = 8;

/// Columns of a matrix of `vectors` columns whose rows are read in whole registers.
constexpr std::size_t padded(std::size_t vectors) { return (vectors + 15) / 16 * 16; }

/// A row's work as products of matrices, with sums in registers of `Block`: the forward pass is the
/// half of Z · Zᵀ below the diagonal, the backward pass G · Z, with G symmetric and 0 on the
/// diagonal. Bits do not depend on the width of a register: every sum has one order.
template <class Block>
class RowKernels {
 public:
  static constexpr std::size_t kWidth = sizeof(Block) / sizeof(float);

  FOREBAY_INLINE explicit RowKernels(const Interaction& shape)
      : vectors_(shape.vectors), dim_(shape.dim), padded_(padded(shape.vectors)) {}

  /// `scratch` is [dim + kTile, padded(vectors)]: the vectors as columns, products of a tile.
  FOREBAY_INLINE void forward(const float* z, float* scratch, float* out) const {
    write_columns(z, scratch);
    std::memcpy(out, z, dim_ * sizeof(float));
    for (std::size_t i = 1; i < vectors_; i += kTile) write_products(z, scratch, i, out + dim_);
  }

  /// dz[i] = Σ_j g(i,j) z[j] over all j ≠ i in ascending order, after what the first vector passes
  /// on directly. `dz` has a location for each vector.
  FOREBAY_INLINE void backward(const float* z, const float* gradient, float* const* dz) const {
    std::size_t d = 0;
    for (; d + kWidth <= dim_; d += kWidth) backward_at<Block>(z, gradient, dz, d);
    for (; d + 8 <= dim_; d += 8) backward_at<Avx>(z, gradient, dz, d);
    for (; d + 4 <= dim_; d += 4) backward_at<Sse>(z, gradient, dz, d);
    for (; d < dim_; ++d) backward_at<float>(z, gradient, dz, d);
  }

 private:
  /// Number of the product of vector i with the first one.
  FOREBAY_INLINE static std::size_t pair(std::size_t i) { return i * (i - 1) / 2; }

  /// Swaps, in squares of 2 · kStep rows, the upper right quarter and the lower left one.
  template <std::size_t kStep, std::size_t... kAt>
  FOREBAY_INLINE static void swap_quarters(Block* rows, std::index_sequence<kAt...> /*columns*/) {
    for (std::size_t i = 0; i < kWidth; ++i) {
      if ((i & kStep) != 0) continue;
      const Block upper = rows[i];
      const Block lower = rows[i + kStep];
      rows[i] = __builtin_shufflevector(upper, lower,
                                        ((kAt & kStep) != 0 ? kWidth + kAt - kStep : kAt)...);
      rows[i + kStep] = __builtin_shufflevector(
          upper, lower, ((kAt & kStep) != 0 ? kWidth + kAt : kAt + kStep)...);
    }
  }

  FOREBAY_INLINE static void transpose(Block* rows) {
    constexpr auto kColumns = std::make_index_sequence<kWidth>();
    swap_quarters<1>(rows, kColumns);
    swap_quarters<2>(rows, kColumns);
    swap_quarters<4>(rows, kColumns);
    if constexpr (kWidth == 16) swap_quarters<8>(rows, kColumns);
  }

  /// Columns past the last vector repeat it.
  FOREBAY_INLINE void write_columns(const float* z, float* zt) const {
    for (std::size_t first = 0; first < vectors_; first += kWidth) {
      const float* from[kWidth];
      for (std::size_t i = 0; i < kWidth; ++i) {
        from[i] = z + std::min(first + i, vectors_ - 1) * dim_;
      }
      std::size_t d = 0;
      for (; d + kWidth <= dim_; d += kWidth) {
        Block square[kWidth];
        for (std::size_t i = 0; i < kWidth; ++i) std::memcpy(&square[i], from[i] + d, kBytes);
        transpose(square);
        for (std::size_t i = 0; i < kWidth; ++i) {
          std::memcpy(zt + (d + i) * padded_ + first, &square[i], kBytes);
        }
      }
      for (; d < dim_; ++d) {
        for (std::size_t i = 0; i < kWidth; ++i) zt[d * padded_ + first + i] = from[i][d];
      }
    }
  }

  /// Writes the products of a tile of vectors with all vectors before them, each summed from the
  /// first dimension to the last, and up to a block behind them.
  FOREBAY_INLINE void write_products(const float* z, float* zt, std::size_t first,
                                     float* pairs) const {
    const std::size_t count = std::min(kTile, vectors_ - first);
    const float* own[kTile];
    for (std::size_t k = 0; k < kTile; ++k) own[k] = z + (first + std::min(k, count - 1)) * dim_;
    float* const products = zt + dim_ * padded_;
    for (std::size_t other = 0; other + 1 < first + count; other += kWidth) {
      Block sums[kTile] = {};
      for (std::size_t d = 0; d < dim_; ++d) {
        Block column;
        std::memcpy(&column, zt + d * padded_ + other, kBytes);
        for (std::size_t k = 0; k < kTile; ++k) sums[k] += own[k][d] * column;
      }
      for (std::size_t k = 0; k < kTile; ++k) {
        std::memcpy(products + k * padded_ + other, &sums[k], kBytes);
      }
    }
    // What is too much behind a vector's products is where the next vector's go.
    for (std::size_t k = 0; k < count; ++k) {
      float* const to = pairs + pair(first + k);
      for (std::size_t other = 0; other < first + k; other += kWidth) {
        std::memcpy(to + other, products + k * padded_ + other, kBytes);
      }
    }
  }

  /// The part of backward() from dimension d on, as wide as `Part`.
  template <class Part>
  FOREBAY_INLINE void backward_at(const float* z, const float* gradient, float* const* dz,
                                  std::size_t d) const {
    std::size_t i = 0;
    for (; i + kTile <= vectors_; i += kTile) sum_tile<Part, kTile>(z, gradient, dz, i, d);
    for (; i + 2 <= vectors_; i += 2) sum_tile<Part, 2>(z, gradient, dz, i, d);
    if (i < vectors_) sum_tile<Part, 1>(z, gradient, dz, i, d);
  }

  template <class Part, std::size_t kCount>
  FOREBAY_INLINE void sum_tile(const float* z, const float* gradient, float* const* dz,
                               std::size_t first, std::size_t d) const {
    const float* const pairs = gradient + dim_;
    const float* own[kCount];  // The products of the tile's vectors with those before them.
    for (std::size_t k = 0; k < kCount; ++k) own[k] = pairs + pair(first + k);
    Part sums[kCount] = {};
    if (first == 0) std::memcpy(&sums[0], gradient + d, sizeof(Part));
    Part other;
    for (std::size_t j = 0; j < first; ++j) {
      std::memcpy(&other, z + j * dim_ + d, sizeof(Part));
      for (std::size_t k = 0; k < kCount; ++k) sums[k] += own[k][j] * other;
    }
#pragma GCC unroll 8
    for (std::size_t j = 0; j < kCount; ++j) {
      std::memcpy(&other, z + (first + j) * dim_ + d, sizeof(Part));
#pragma GCC unroll 8
      for (std::size_t k = 0; k < kCount; ++k) {
        if (j < k) sums[k] += own[k][first + j] * other;
        if (j > k) sums[k] += own[j][first + k] * other;
      }
    }
    for (std::size_t j = first + kCount; j < vectors_; ++j) {
      std::memcpy(&other, z + j * dim_ + d, sizeof(Part));
      const float* const factors = pairs + pair(j) + first;
      for (std::size_t k = 0; k < kCount; ++k) sums[k] += factors[k] * other;
    }
    for (std::size_t k = 0; k < kCount; ++k) std::memcpy(dz[first + k] + d, &sums[k], sizeof(Part));
  }

  static constexpr std::size_t kBytes = sizeof(Block);

  const std::size_t vectors_, dim_, padded_;
};

template <class Block>
FOREBAY_INLINE void forward_rows(const Interaction& shape, const float* z, std::size_t rows,
                                 float* scratch, float* out) {
  const RowKernels<Block> kernels(shape);
  for (std::size_t row = 0; row < rows; ++row) {
    kernels.forward(z + row * shape.vectors * shape.dim, scratch, out + row * shape.width());
  }
}

/// `dz` has for each vector the location of its gradient in the first row; rows are `dim` apart.
template <class Block>
FOREBAY_INLINE void backward_rows(const Interaction& shape, const float* z, const float* gradient,
                                  std::size_t rows, float** dz) {
  const RowKernels<Block> kernels(shape);
  for (std::size_t row = 0; row < rows; ++row) {
    kernels.backward(z + row * shape.vectors * shape.dim, gradient + row * shape.width(), dz);
    for (std::size_t v = 0; v < shape.vectors; ++v) dz[v] += shape.dim;
  }
}

FOREBAY_CLONES void forward_in_avx(const Interaction& shape, const float* z, std::size_t rows,
                                   float* scratch, float* out) {
  forward_rows<Avx>(shape, z, rows, scratch, out);
}

FOREBAY_CLONES void backward_in_avx(const Interaction& shape, const float* z, const float* gradient,
                                    std::size_t rows, float** dz) {
  backward_rows<Avx>(shape, z, gradient, rows, dz);
}

#if FOREBAY_AVX512_COMPILES
FOREBAY_AVX512 void forward_in_avx512(const Interaction& shape, const float* z, std::size_t rows,
                                      float* scratch, float* out) {
  forward_rows<Avx512>(shape, z, rows, scratch, out);
}

FOREBAY_AVX512 void backward_in_avx512(const Interaction& shape, const float* z,
                                       const float* gradient, std::size_t rows, float** dz) {
  backward_rows<Avx512>(shape, z, gradient, rows, dz);
}
#endif

}  // namespace

void Interaction::forward(const float* z, std::size_t rows, float* out) const {
  std::vector<float> scratch((dim + kTile) * padded(vectors));
#if FOREBAY_AVX512_COMPILES
  if (in_avx512) return forward_in_avx512(*this, z, rows, scratch.data(), out);
#endif
  forward_in_avx(*this, z, rows, scratch.data(), out);
}

void Interaction::backward(const float* z, const float* gradient, std::size_t rows, float* bottom,
                           float* pooled, std::size_t pooled_stride) const {
  std::vector<float*> dz = {bottom};
  for (std::size_t v = 1; v < vectors; ++v) dz.push_back(pooled + (v - 1) * pooled_stride);
#if FOREBAY_AVX512_COMPILES
  if (in_avx512) return backward_in_avx512(*this, z, gradient, rows, dz.data());
#endif
  backward_in_avx(*this, z, gradient, rows, dz.data());
}

}  // namespace forebay
