#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "core/runtime/synchronized.h"
#include "engine/report/json_object.h"

namespace forebay {

/// Something that happened in a run. A value.
struct RunEvent {
  std::uint64_t number = 0;  ///< From 1.
  std::string kind;          ///< `decision`, `node`, `warning`, `end`
  std::string data;          ///< One JSON object, in one line.
};

/// The last events of a run. Readers wait for the next one; a reader that is slow misses the events
/// that were dropped meanwhile, and delays no writer. Thread-safe.
class EventLog {
 public:
  static constexpr std::size_t kMost = 1000;
  static constexpr std::size_t kMostBytes = std::size_t{1} << 20;  ///< Of all data.

  /// Adds an event and wakes all readers.
  void add(std::string kind, const JsonObject& data);

  /// Returns the events after `number` that are kept; blocks until there is one, the log is closed,
  /// or `most` is over.
  std::vector<RunEvent> wait_after(std::uint64_t number, std::chrono::nanoseconds most);
  std::vector<RunEvent> all();

  /// Nothing more is added: readers no longer wait.
  void close();
  bool closed();

 private:
  struct Kept {
    std::deque<RunEvent> events;
    std::uint64_t added = 0;
    std::size_t bytes = 0;
    bool closed = false;
  };
  static std::vector<RunEvent> after(const Kept& kept, std::uint64_t number);

  Synchronized<Kept> kept_;
};

}  // namespace forebay
