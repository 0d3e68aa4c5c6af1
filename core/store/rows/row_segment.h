#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/descriptor.h"
#include "core/base/result.h"
#include "core/store/rows/read_queue.h"

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
  /// What precedes the numbers.
  struct Head {
    std::uint32_t checksum;
    std::uint32_t rows;
  };

  /// `memory` has `shape.page_bytes` bytes, is aligned to 8 and must outlive the page.
  RowPage(const RowPageShape& shape, char* memory) : shape_(shape), memory_(memory) {}

  void clear();
  std::size_t rows() const { return head().rows; }
  bool full() const { return rows() == shape_.rows; }
  std::uint64_t number(std::size_t index) const { return numbers()[index]; }
  std::span<std::byte> row(std::size_t index) const;
  std::optional<std::size_t> find(std::uint64_t number) const;

  /// Adds a row with a new number to a page that is not full; returns the space for its values.
  std::span<std::byte> add(std::uint64_t number);

  /// Sets the checksum. `where` is a number that is unique to this page.
  void seal(std::uint64_t where) { head().checksum = checksum(where); }
  /// Whether the page was sealed with `where` and has not changed since.
  bool intact(std::uint64_t where) const;

 private:
  std::uint32_t checksum(std::uint64_t where) const;
  Head& head() const { return *reinterpret_cast<Head*>(memory_); }
  std::uint64_t* numbers() const { return reinterpret_cast<std::uint64_t*>(&head() + 1); }

  const RowPageShape& shape_;
  char* const memory_;
};

/// A file of a RowLog that is written once, from start to end, and never changes:
///
///   pages of rows, all full but the last | the numbers of all rows (8 bytes each), to a whole page
///   | a last page that identifies the file, with checksums of the numbers and of itself
struct RowSegment {
  static constexpr const char* kExtension = ".rows";

  std::uint64_t sequence = 0;          ///< The copy of a row in the latest segment is the live one.
  std::vector<std::uint64_t> numbers;  ///< In the order of the rows in the pages.

  /// The location of a page, for its checksum.
  static std::uint64_t where(std::uint64_t sequence, std::uint64_t page) {
    return sequence << 32 | page;
  }
  static std::uint64_t pages(const RowPageShape& shape, std::uint64_t rows) {
    return (rows + shape.rows - 1) / shape.rows;
  }
  /// The size of a file with `rows` rows.
  static std::uint64_t bytes(const RowPageShape& shape, std::uint64_t rows);

  /// The bytes after the pages.
  DirectMemory footer(const RowPageShape& shape) const;

  /// Reads the footer of a complete segment. kCorrupt, naming the file, for anything else: rows of
  /// another size, a truncated or modified file. The pages are checked when they are read.
  static Result<RowSegment> open(const std::string& path, const RowPageShape& shape);
};

/// A segment of a RowLog and its file.
struct OpenSegment {
  std::string path;
  Descriptor file;
  std::uint64_t sequence = 0;
  std::uint64_t pages = 0;                 ///< Pages begun.
  std::uint64_t live = 0;                  ///< Rows whose latest copy is in this segment.
  std::atomic<std::uint64_t> written = 0;  ///< Pages written to the file.
  std::atomic<bool> whole = false;         ///< Complete with its footer: no more writes follow.
};

/// A page as read from disk.
struct ReadPage {
  char* memory = nullptr;
  std::int64_t bytes = 0;  ///< Bytes read, or -errno.
};

/// kUnavailable if the disk could not read the page, kCorrupt if its content is not as written;
/// both name the file.
Status check_page(const RowPageShape& shape, const OpenSegment& segment, std::uint64_t number,
                  const ReadPage& page);

/// Reads a segment from start to end, in pieces of the size of `memory`. Stops at the first error.
Status for_each_page(const RowPageShape& shape, const OpenSegment& segment,
                     const DirectMemory& memory,
                     const std::function<Status(std::uint64_t number, const RowPage& rows)>& visit);

}  // namespace forebay
