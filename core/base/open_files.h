#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <system_error>

namespace forebay {

/// How many descriptors this process may have open: the soft limit, `ulimit -n`.
std::size_t descriptor_limit();

/// How many of them are left. Reads /proc; takes a microsecond for each that is open.
std::size_t free_descriptors();

/// Whether `error` (errno) says that no descriptor is left, here or on the whole machine.
bool is_out_of_descriptors(int error);

/// What the system says of `error`; where no descriptor is left also how many there may be, and
/// what to do.
std::string system_words(int error);

/// Lets one operation that needs a descriptor be tried again where none is left: connections that
/// came in a rush are cut within milliseconds.
class DescriptorWait {
 public:
  /// Whether to try again what ended with `error` (errno). Pauses first; leaves errno as it is
  /// where it returns false. True at most 19 times, 20 ms each.
  bool again(int error);

 private:
  int tries_ = 1;
};

/// open(2) with O_CLOEXEC and a DescriptorWait. -1 and errno.
int open_file(const std::string& path, int flags, unsigned mode = 0);

/// The entries of a folder, with a DescriptorWait.
std::filesystem::directory_iterator open_folder(const std::string& path, std::error_code& error);

}  // namespace forebay
