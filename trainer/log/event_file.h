#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/descriptor.h"
#include "core/base/result.h"
#include "trainer/log/log_line.h"

namespace forebay {

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
