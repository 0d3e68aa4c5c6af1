#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace forebay {

// Reads and writes of an open file that go on after a signal or a partial transfer. Any thread.

/// Writes all of `bytes` where the file's last write ended. False: errno says why not; some of the
/// bytes may have been written.
[[nodiscard]] bool write_all(int file, std::string_view bytes);

/// Writes all of `bytes` from `offset` on. False: as for write_all().
[[nodiscard]] bool write_all_at(int file, std::span<const std::byte> bytes, std::uint64_t offset);

/// Reads from `offset` on until `into` is full or the file ends. Returns the number of bytes; -1:
/// errno says why.
[[nodiscard]] ssize_t read_all_at(int file, std::span<std::byte> into, std::uint64_t offset);

}  // namespace forebay
