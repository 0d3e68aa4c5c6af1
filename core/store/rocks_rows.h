#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "core/base/result.h"

namespace forebay {

/// Rows of one size by number, on the disk, by RocksDB: for more rows than memory holds, read and
/// written in batches at random.
///
/// Owns the folder while it lives; keeps nothing across a crash but what link() put elsewhere:
/// there is no log, and the folder is emptied when it is opened. Its files are read and written
/// directly, so that the system's page cache holds nothing of it. Calls exclude each other, but
/// read() and write() of different rows. Refuses with kUnavailable, naming the folder, when the
/// disk does.
class RocksRows {
 public:
  struct Options {
    std::size_t row_bytes = 0;
    std::uint64_t most_rows = 0;  ///< For its plan of memory.
    bool ascending = false;       ///< Rows are written once, in order: filters would find nothing.
  };

  /// Bytes of memory that it takes for filters, indices, cache and what is yet to be written.
  static std::uint64_t memory_bytes(const Options& options);

  /// An empty folder, or, with `from`, the rows that were linked there; those files stay as they
  /// are.
  static Result<std::unique_ptr<RocksRows>> create(const std::string& folder,
                                                   const Options& options,
                                                   const std::string& from = "");
  ~RocksRows();
  RocksRows(const RocksRows&) = delete;
  RocksRows& operator=(const RocksRows&) = delete;

  /// Called for the place of each row in `numbers`, by several threads at a time.
  using Take = std::function<void(std::size_t place, std::span<const std::byte> row)>;

  /// Reads rows that were written; `numbers` ascend. kCorrupt when one is missing.
  Status read(std::span<const std::uint64_t> numbers, const Take& take) const;

  /// Writes `numbers.size()` rows, one after another in `rows`.
  Status write(std::span<const std::uint64_t> numbers, std::span<const std::byte> rows);

  /// Puts all rows as they are now into a new folder of the same file system, as links: what is
  /// written later is not in it.
  Status link(const std::string& folder);

  /// Reads what link() put into `folder`, row by row, the numbers ascending; changes nothing there.
  /// kCorrupt for a row of another size.
  using Visit = std::function<Status(std::uint64_t number, std::span<const std::byte> row)>;
  static Status scan(const std::string& folder, std::size_t row_bytes, const Visit& visit);

  /// Bytes on the disk.
  std::uint64_t disk_bytes() const;

 private:
  struct Open;
  RocksRows(std::string folder, const Options& options);
  Status read_some(std::span<const std::uint64_t> numbers, std::size_t first,
                   const Take& take) const;

  const std::string folder_;
  const Options options_;
  std::unique_ptr<Open> open_;
};

}  // namespace forebay
