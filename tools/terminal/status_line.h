#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace forebay {

/// How far a command is, on stderr: one live line on a terminal, elsewhere a plain line every few
/// seconds. One thread.
class StatusLine {
 public:
  StatusLine();
  ~StatusLine() { clear(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  /// Whether a line would be shown now: ask before making one.
  bool is_due() const;
  void show(const std::string& line);
  /// Takes the live line away.
  void clear();

 private:
  const bool on_terminal_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point shown_at_;
};

}  // namespace forebay
