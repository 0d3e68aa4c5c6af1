#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "actors/format/raw_split.h"
#include "actors/source/dataset.h"
#include "core/base/result.h"

namespace forebay {

/// Counts a dataset's damaged rows and stores them in a file for a person to inspect.
///
/// Owns the quarantine file: a TSV with the columns file, byte_offset, line, reason and text (tabs,
/// newlines and other control characters in a row's text as `\xNN`). Creates it with the first
/// damaged row. Belongs to one thread. Returns an error that names the row once there are more than
/// `allowed` rows.
class Quarantine {
 public:
  struct Options {
    std::string path;
    std::uint64_t allowed = 0;  ///< `dataset.bad_rows`
    std::uint64_t already = 0;  ///< Rows counted by the runs that this run continues.
    const Dataset& dataset;     ///< For the files' names.
  };

  /// A fresh run removes an older file; a resumed run keeps it and writes no row twice.
  enum class Begin : std::uint8_t { kFresh, kResumed };
  static Result<std::unique_ptr<Quarantine>> open(Options options, Begin begin);

  Status add(const std::vector<BadRow>& rows);

  /// Returns the rows counted so far, by earlier runs, too. Any thread.
  std::uint64_t count() const { return count_.load(std::memory_order_relaxed); }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  explicit Quarantine(Options options) : options_(std::move(options)), count_(options_.already) {}
  Status remove_half_line() const;
  void read_known();
  Status write(const BadRow& row);
  Error too_many(const BadRow& row) const;

  const Options options_;
  std::atomic<std::uint64_t> count_;
  std::unique_ptr<std::FILE, Close> file_;
  std::set<std::pair<std::string, std::uint64_t>> known_;  // rows written by earlier runs
};

}  // namespace forebay
