#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace forebay {

/// How rows of one size share pages, which are what the disk reads at once.
struct RowPageShape {
  /// The smallest multiple of 4 KiB, up to four of them, of which rows fill three quarters; for
  /// larger rows what one takes.
  explicit RowPageShape(std::size_t row_bytes);

  std::size_t row_bytes;
  std::size_t page_bytes;
  std::size_t rows;  ///< A page.
};

/// A page of rows with their numbers, in the caller's memory:
///
///   checksum (CRC-32C, 4 bytes) | rows (4) | their numbers (8 each) | the rows | zeros
///
/// The checksum is of all behind it and of where the page lies, so that a page that the disk gives
/// in place of another is found out. Integers are of the machine's order.
class RowPage {
 public:
  /// `memory` has `shape.page_bytes` and outlives it.
  RowPage(const RowPageShape& shape, char* memory) : shape_(shape), memory_(memory) {}

  void clear();
  std::size_t rows() const;
  bool full() const { return rows() == shape_.rows; }
  std::uint64_t number(std::size_t index) const;
  std::span<std::byte> row(std::size_t index) const;
  std::optional<std::size_t> find(std::uint64_t number) const;

  /// The room for a row that the page has not, on a page that is not full.
  std::span<std::byte> add(std::uint64_t number);

  /// `where` is any number that no other page has.
  void seal(std::uint64_t where);
  /// Whether it was sealed there, and has not changed.
  bool intact(std::uint64_t where) const;

 private:
  std::uint32_t checksum(std::uint64_t where) const;
  char* numbers() const { return memory_ + 2 * sizeof(std::uint32_t); }

  const RowPageShape& shape_;
  char* const memory_;
};

}  // namespace forebay
