#pragma once

#include <cstdint>
#include <string>

#include "core/runtime/synchronized.h"
#include "engine/actors/cluster/network_objects.h"

namespace forebay {

/// Names for the actors of a program's tasks, unlike those of any other program. Thread-safe.
class TaskNames {
 public:
  std::string next(const std::string& task) {
    const std::uint64_t number = last_.change([](std::uint64_t& last) { return ++last; });
    return task.substr(0, 64) + " " + std::to_string(program_) + "-" + std::to_string(number);
  }

 private:
  const std::uint64_t program_ = number_of_process();
  Synchronized<std::uint64_t> last_;
};

}  // namespace forebay
