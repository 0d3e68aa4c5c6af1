#pragma once

#include <cstddef>
#include <string>

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

/// open(2) with O_CLOEXEC. Where no descriptor is left it waits a while for one, since connections
/// that came in a rush are cut within milliseconds. -1 and errno.
int open_file(const std::string& path, int flags, unsigned mode = 0);

}  // namespace forebay
