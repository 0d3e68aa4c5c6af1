#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "trainer/log/log_line.h"

namespace forebay {

/// A run's figures as a table: a header, then a line a LogLine; what there is not is empty.
///
/// Owns the file. Lines are written whole and at once. Belongs to one thread.
class CsvFile {
 public:
  static constexpr std::string_view kHeader =
      "step,epoch,rows,loss,learning_rate,rows_per_second,starved_ratio,auc,log_loss,"
      "normalized_entropy,calibration\n";

  /// A run that begins: whatever the file held goes.
  static Result<CsvFile> begin(const std::string& path);
  /// A run that goes on after `step`: lines of later steps, and half a line, are cut off, and the
  /// evaluation after that step unless it was `evaluated`, as it comes again. A file with another
  /// header is refused and stays as it is; where there is none it begins.
  static Result<CsvFile> resume(const std::string& path, std::uint64_t step, bool evaluated);

  CsvFile(CsvFile&& other) noexcept;
  CsvFile& operator=(CsvFile&&) = delete;
  ~CsvFile();

  Status write(const LogLine& line);

 private:
  CsvFile(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  Status append(std::string_view text) const;

  std::string path_;
  int descriptor_;
};

/// Of the bytes of a table, how many a run that goes on after `step` keeps: its header and the
/// lines up to the first that is of a later step, of the evaluation after `step` unless it was
/// `evaluated`, or no line. Pure; `table` begins with the header.
std::size_t kept_bytes(std::string_view table, std::uint64_t step, bool evaluated);

}  // namespace forebay
