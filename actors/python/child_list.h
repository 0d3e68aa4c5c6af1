#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "actors/python/child_process.h"

namespace forebay {

/// The child processes of one function, whatever actor owns them. Any thread.
class ChildList {
 public:
  /// Lists a process as long as it lives; the list outlives it. Move-only.
  class Entry {
   public:
    Entry() = default;
    Entry(ChildList& list, pid_t process) {
      for (auto& place : list.places_) {
        pid_t free = 0;
        if (!place.compare_exchange_strong(free, process)) continue;
        place_ = &place;
        return;
      }
    }
    Entry(Entry&& other) noexcept : place_(std::exchange(other.place_, nullptr)) {}
    Entry& operator=(Entry&& other) noexcept {
      std::swap(place_, other.place_);
      return *this;
    }
    ~Entry() {
      if (place_ != nullptr) *place_ = 0;
    }

   private:
    std::atomic<pid_t>* place_ = nullptr;  // null: the list was full
  };

  /// Resident bytes of all processes now.
  std::uint64_t resident_bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& place : places_) {
      if (const pid_t process = place; process > 0) bytes += resident_bytes_of(process);
    }
    return bytes;
  }

 private:
  /// Twice the most actors of a stage, since some may be ending.
  static constexpr std::size_t kMost = 256;
  std::array<std::atomic<pid_t>, kMost> places_{};
};

}  // namespace forebay
