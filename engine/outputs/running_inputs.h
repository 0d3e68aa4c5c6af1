#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/descriptor.h"
#include "engine/outputs/inputs.h"

namespace forebay {

/// Lets other processes of this machine see the inputs of this one, until it goes or the process
/// ends, however it ends.
///
/// The list lies in a memory file (memfd) of a fixed name, which others find below /proc: nothing
/// is written to any disk, and nothing has to be cleaned up. Holds one descriptor. Processes of
/// another user, of another PID namespace or without /proc do not see each other's.
class PublishedInputs {
 public:
  /// Where the system has no memory file to give, that is said; the inputs are not seen then.
  using Say = std::function<void(const std::string&)>;
  static PublishedInputs publish(const Inputs& inputs, const Say& say);

 private:
  explicit PublishedInputs(Descriptor file) : file_(std::move(file)) {}

  Descriptor file_;
};

/// What another process reads.
struct RunningInputs {
  pid_t process = 0;
  Inputs inputs;
};

/// What all other processes of this user on this machine publish. Takes about 10 µs a process.
std::vector<RunningInputs> inputs_of_other_processes();

}  // namespace forebay
