#include "actors/stage/rows/permute.h"

#include <numeric>

#include "core/base/random.h"
#include "core/base/shuffle.h"
#include "core/data/buffer_pool.h"

namespace forebay {
namespace {

using Slices = std::span<const RowSlice>;

/// Draws which row comes to which place.
void draw(std::span<std::uint32_t> sources, std::uint64_t key) {
  std::iota(sources.begin(), sources.end(), 0U);
  Random random(key);
  shuffle(sources, random);
}

/// The same, and turns it round: `places` says where each row goes. The first place is number
/// `first`.
void draw(std::span<std::uint32_t> sources, std::span<std::uint32_t> places, std::uint64_t key,
          std::size_t first = 0) {
  draw(sources, key);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    places[sources[i]] = static_cast<std::uint32_t>(first + i);
  }
}

/// The places of rows, in a buffer of the pool.
struct Order {
  Buffer memory;
  std::span<const std::uint32_t> places;  // where each row goes

  Order(std::size_t rows, BufferPool& pool) : memory(pool.take(2 * rows * sizeof(std::uint32_t))) {
    places = numbers().last(rows);
  }
  std::span<std::uint32_t> numbers() const {
    return {memory.as<std::uint32_t>(), memory.size() / sizeof(std::uint32_t)};
  }
};

Order drawn_order(std::size_t rows, std::uint64_t key, BufferPool& pool) {
  Order order(rows, pool);
  draw(order.numbers().first(rows), order.numbers().last(rows), key);
  return order;
}

/// Every section has an order of its own; the rows behind the last section stay where they are.
Order sectioned_order(std::size_t rows, const Sections& sections, std::uint64_t key,
                      BufferPool& pool) {
  Order order(rows, pool);
  const std::size_t each = sections.rows;
  const auto sources = order.numbers().first(each);
  const auto places = order.numbers().last(rows);
  for (std::size_t i = 0; i < sections.count; ++i) {
    draw(sources, places.subspan(i * each, each), mix64(key, sections.first + i), i * each);
  }
  const auto rest = places.subspan(sections.count * each);
  std::iota(rest.begin(), rest.end(), static_cast<std::uint32_t>(sections.count * each));
  return order;
}

Order given_order(std::size_t rows, BufferPool& pool) {
  Order order(rows, pool);
  const auto places = order.numbers().last(rows);
  std::iota(places.begin(), places.end(), 0U);
  return order;
}

}  // namespace

std::size_t permuted_bytes(Slices slices) {
  const std::size_t rows = rows_of(slices);
  return moved_bytes(slices, rows) + 2 * rows * sizeof(std::uint32_t);
}

ColumnSet permute_rows(Slices slices, std::uint64_t key, BufferPool& pool) {
  if (slices.size() == 1) {
    const Buffer memory = pool.take(slices[0].rows() * sizeof(std::uint32_t));
    const std::span<std::uint32_t> sources(memory.as<std::uint32_t>(), slices[0].rows());
    draw(sources, key);
    return gather_rows(slices[0], sources, pool);
  }
  return move_rows(slices, drawn_order(rows_of(slices), key, pool).places, pool);
}

ColumnSet permute_sections(Slices slices, const Sections& sections, std::uint64_t key,
                           BufferPool& pool) {
  return move_rows(slices, sectioned_order(rows_of(slices), sections, key, pool).places, pool);
}

ColumnSet join_rows(Slices slices, BufferPool& pool) {
  return move_rows(slices, given_order(rows_of(slices), pool).places, pool);
}

}  // namespace forebay
