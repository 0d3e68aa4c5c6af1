#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <system_error>

namespace forebay {

/// The number of descriptors that this process may have open: the soft limit, `ulimit -n`.
std::size_t descriptor_limit();

/// The number of descriptors that can still be opened. Reads /proc; takes 1 µs for each open one.
std::size_t free_descriptors();

/// Whether `error` (errno) means that this process or the whole machine has no descriptor left.
bool is_out_of_descriptors(int error);

/// The system's message for `error`. If no descriptor is left, adds the limit and how to raise it.
std::string system_words(int error);

/// Retries an operation that failed because no descriptor was left: when many connections arrive at
/// once, the surplus ones are closed within milliseconds, which frees descriptors.
class DescriptorWait {
 public:
  /// Whether to retry an operation that failed with `error` (errno). Pauses 20 ms before it returns
  /// true, which it does at most 19 times; keeps errno when it returns false.
  bool again(int error);

 private:
  int tries_ = 1;
};

/// open(2) with O_CLOEXEC and a DescriptorWait. Returns -1 and sets errno on failure.
int open_file(const std::string& path, int flags, unsigned mode = 0);

/// Lists the entries of a folder, with a DescriptorWait.
std::filesystem::directory_iterator open_folder(const std::string& path, std::error_code& error);

}  // namespace forebay
