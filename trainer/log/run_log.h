#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/descriptor.h"
#include "core/base/result.h"

namespace forebay {

/// The figures of a run after a step. Absent figures are left out.
struct LogLine {
  std::uint64_t step = 0;   ///< Since the job's start, as all counts here.
  std::uint64_t epoch = 0;  ///< Complete epochs.
  std::uint64_t rows = 0;

  std::optional<double> loss = {};  ///< Mean over the steps since the previous line.
  std::optional<double> learning_rate = {};
  std::optional<double> rows_per_second =
      {};  ///< Since the previous line, without evaluations and checkpoints.
  std::optional<double> starved_ratio = {};  ///< Share of that time that was spent waiting.

  std::optional<double> auc = {};  ///< This and the figures below belong to an evaluation.
  std::optional<double> log_loss = {};
  std::optional<double> normalized_entropy = {};
  std::optional<double> calibration = {};
};

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

/// A figure under the name that TensorBoard groups it by: `train/loss`.
struct Scalar {
  std::string_view tag;
  float value = 0;
};

/// Encodes TensorBoard's input: tensorflow.Event messages (event.proto, summary.proto), each in a
/// TFRecord frame. `wall` is in seconds since 1970. Pure functions.
///
/// The first record of every file.
std::string version_record(double wall);
/// Marks that a run begins, or continues, after `step`: TensorBoard then ignores the later steps of
/// earlier files.
std::string start_record(double wall, std::uint64_t step);
std::string scalars_record(double wall, std::uint64_t step, std::span<const Scalar> scalars);

/// A TFRecord frame: length, its masked CRC-32C, the content, its masked CRC-32C; little-endian.
std::string framed(std::string_view content);

/// Seconds since 1970.
using WallClock = std::function<double()>;

/// The TensorBoard log of one run, in a file of its own.
///
/// Owns the file. Each line is written as one record, at once. Belongs to one thread.
class EventFile {
 public:
  /// Creates the directory if it is missing, and a file in it that sorts after those of earlier
  /// runs. The run continues after `step`; 0 for a new run. Returns an error if it cannot be
  /// written.
  static Result<EventFile> create(const std::string& directory, std::uint64_t step,
                                  WallClock wall_clock);
  Status write(const LogLine& line);

 private:
  EventFile(std::string path, Descriptor file, WallClock wall_clock)
      : path_(std::move(path)), file_(std::move(file)), wall_clock_(std::move(wall_clock)) {}
  std::string path_;
  Descriptor file_;
  WallClock wall_clock_;
};

}  // namespace forebay
