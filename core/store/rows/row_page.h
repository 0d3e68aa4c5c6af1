#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace forebay {

/// How rows of one size share a page, the unit in which the disk is read.
struct RowPageShape {
  /// Chooses as the page the smallest multiple of 4 KiB, up to 16 KiB, that rows fill to three
  /// quarters; for larger rows, the smallest page that one row fits in.
  explicit RowPageShape(std::size_t row_bytes);

  std::size_t row_bytes;
  std::size_t page_bytes;
  std::size_t rows;  ///< Rows of a page.
};

/// A page of rows with their numbers, in the caller's memory:
///
///   checksum (CRC-32C, 4 bytes) | rows (4) | their numbers (8 each) | the rows | zeros
///
/// The checksum covers everything after it and the page's location, which detects a disk that
/// returns another page than requested. Integers are in the machine's byte order.
class RowPage {
 public:
  /// `memory` has `shape.page_bytes` bytes and must outlive the page.
  RowPage(const RowPageShape& shape, char* memory) : shape_(shape), memory_(memory) {}

  void clear();
  std::size_t rows() const;
  bool full() const { return rows() == shape_.rows; }
  std::uint64_t number(std::size_t index) const;
  std::span<std::byte> row(std::size_t index) const;
  std::optional<std::size_t> find(std::uint64_t number) const;

  /// Adds a row with a new number to a page that is not full; returns the space for its values.
  std::span<std::byte> add(std::uint64_t number);

  /// Sets the checksum. `where` is a number that is unique to this page.
  void seal(std::uint64_t where);
  /// Whether the page was sealed with `where` and has not changed since.
  bool intact(std::uint64_t where) const;

 private:
  std::uint32_t checksum(std::uint64_t where) const;
  char* numbers() const { return memory_ + 2 * sizeof(std::uint32_t); }

  const RowPageShape& shape_;
  char* const memory_;
};

}  // namespace forebay
