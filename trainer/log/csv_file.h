#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/descriptor.h"
#include "core/base/result.h"
#include "trainer/log/log_line.h"

namespace forebay {

/// A run's figures as a table: a header, then one line per LogLine; an absent figure is empty.
///
/// Owns the file. Each line is written whole, at once. Belongs to one thread.
class CsvFile {
 public:
  static constexpr std::string_view kHeader =
      "step,epoch,rows,loss,learning_rate,rows_per_second,starved_ratio,auc,log_loss,"
      "normalized_entropy,calibration\n";

  /// Starts a new run: replaces an existing file.
  static Result<CsvFile> begin(const std::string& path);
  /// Continues after `step`: cuts off lines of later steps, an incomplete last line, and the
  /// evaluation after that step unless it was `evaluated`, because it is repeated. Returns an error
  /// for a file with another header, and leaves it unchanged; creates the file if it does not
  /// exist.
  static Result<CsvFile> resume(const std::string& path, std::uint64_t step, bool evaluated);

  Status write(const LogLine& line);

 private:
  CsvFile(std::string path, Descriptor file) : path_(std::move(path)), file_(std::move(file)) {}
  std::string path_;
  Descriptor file_;
};

/// Number of a table's bytes that a run that continues after `step` keeps: the header and the lines
/// up to the first one that belongs to a later step, to the evaluation after `step` unless it was
/// `evaluated`, or that is no valid line. Pure; `table` begins with the header.
std::size_t kept_bytes(std::string_view table, std::uint64_t step, bool evaluated);

}  // namespace forebay
