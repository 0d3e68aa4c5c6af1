#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/descriptor.h"
#include "engine/outputs/inputs.h"

namespace forebay {

/// Publishes the inputs of this process to other processes of this machine, until the object is
/// destroyed or the process ends in any way.
///
/// The list is stored in a memory file (memfd) with a fixed name, which other processes find in
/// /proc: nothing is written to a disk, and nothing has to be cleaned up. Holds one descriptor.
/// Processes of other users, of other PID namespaces or without /proc do not see each other's
/// inputs.
class PublishedInputs {
 public:
  /// Called if the system provides no memory file; then other processes do not see the inputs.
  using Say = std::function<void(const std::string&)>;
  static PublishedInputs publish(const Inputs& inputs, const Say& say);

 private:
  explicit PublishedInputs(Descriptor file) : file_(std::move(file)) {}

  Descriptor file_;
};

/// The inputs of another process.
struct RunningInputs {
  pid_t process = 0;
  Inputs inputs;
};

/// Returns the inputs that all other processes of this user on this machine publish. Takes about 10
/// µs a process.
std::vector<RunningInputs> inputs_of_other_processes();

}  // namespace forebay
