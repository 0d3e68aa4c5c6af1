#include "actors/stage/rows/permute.h"

#include <numeric>

#include "core/base/random.h"
#include "core/base/shuffle.h"
#include "core/data/buffer_pool.h"

namespace forebay {
namespace {

using Slices = std::span<const RowSlice>;

/// The rows of slices in their order, in a buffer of the pool; each is to become another one.
class Order {
 public:
  Order(std::size_t rows, BufferPool& pool) : memory_(pool.take(rows * sizeof(std::uint32_t))) {
    sources_ = {memory_.as<std::uint32_t>(), rows};
    std::iota(sources_.begin(), sources_.end(), 0U);
  }
  std::span<std::uint32_t> sources() const { return sources_; }

  /// Permutes `count` of them, from number `first` on.
  void draw(std::size_t first, std::size_t count, std::uint64_t key) {
    Random random(key);
    shuffle(sources_.subspan(first, count), random);
  }

 private:
  Buffer memory_;
  std::span<std::uint32_t> sources_;
};

}  // namespace

std::size_t permuted_bytes(Slices slices) {
  return moved_bytes(slices) + rows_of(slices) * sizeof(std::uint32_t);
}

ColumnSet permute_rows(Slices slices, std::uint64_t key, BufferPool& pool) {
  Order order(rows_of(slices), pool);
  order.draw(0, order.sources().size(), key);
  return move_rows(slices, order.sources(), pool);
}

ColumnSet permute_sections(Slices slices, const Sections& sections, std::uint64_t key,
                           BufferPool& pool) {
  Order order(rows_of(slices), pool);
  for (std::size_t i = 0; i < sections.count; ++i) {
    order.draw(i * sections.rows, sections.rows, mix64(key, sections.first + i));
  }
  return move_rows(slices, order.sources(), pool);
}

ColumnSet join_rows(Slices slices, BufferPool& pool) {
  return move_rows(slices, Order(rows_of(slices), pool).sources(), pool);
}

}  // namespace forebay
