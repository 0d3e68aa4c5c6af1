#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/base/result.h"
#include "trainer/log/log_line.h"

namespace forebay {

/// Seconds since 1970.
using WallClock = std::function<double()>;

/// TensorBoard's log of one run, in a file of its own.
///
/// Owns the file. A line is written as one record and at once. Belongs to one thread.
class EventFile {
 public:
  /// Makes the directory where it is missing and in it a file that sorts behind those of earlier
  /// runs. The run goes on after `step`; 0 for one that begins. Refused where it cannot be written.
  static Result<EventFile> create(const std::string& directory, std::uint64_t step,
                                  WallClock wall_clock);
  EventFile(EventFile&& other) noexcept;
  EventFile& operator=(EventFile&&) = delete;
  ~EventFile();

  Status write(const LogLine& line);

 private:
  EventFile(std::string path, int descriptor, WallClock wall_clock)
      : path_(std::move(path)), descriptor_(descriptor), wall_clock_(std::move(wall_clock)) {}
  Status append(const std::string& record) const;

  std::string path_;
  int descriptor_;
  WallClock wall_clock_;
};

}  // namespace forebay
