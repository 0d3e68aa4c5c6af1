#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <system_error>

#include "core/base/descriptor.h"

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

/// The alignment of direct reads and writes, in memory and in files.
constexpr std::size_t kDirectPage = 4096;

constexpr std::size_t whole_pages(std::size_t bytes) {
  return (bytes + kDirectPage - 1) / kDirectPage * kDirectPage;
}

/// Opens a file for reads and writes that bypass the page cache, or for ordinary ones on a file
/// system without direct I/O (tmpfs before Linux 6.6). On failure returns an empty descriptor and
/// sets errno.
Descriptor open_direct(const std::string& path, int flags);

/// Raises the limit of open descriptors of this process to the allowed maximum (`ulimit -Hn`), at
/// most 65,536. Call once, before threads start.
void raise_descriptor_limit();

/// Returns shell lines that run `command` with the limit that this process was started with:
/// programs that use select(2) need a low limit.
std::string with_first_descriptor_limit(const std::string& command);

}  // namespace forebay
