#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace forebay {

/// A command's progress on stderr: one live line on a terminal, otherwise a plain line every few
/// seconds. One thread.
class StatusLine {
 public:
  StatusLine();
  ~StatusLine() { clear(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  /// Returns whether a line is due; call it before formatting one.
  bool is_due() const;
  void show(const std::string& line);
  /// Removes the live line.
  void clear();

 private:
  const bool on_terminal_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point shown_at_;
};

}  // namespace forebay
