#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "core/base/descriptor.h"
#include "core/base/result.h"

namespace forebay {

// Both sides of a job's control socket. The socket is opened relative to its folder's descriptor,
// since the path of a socket is limited to 107 bytes.

inline constexpr const char* kControlName = "control";
/// The longest request, and the longest answer to one that changes something.
inline constexpr std::size_t kMostControlBytes = 4096;

/// Opens the folder; kNotFound: it does not exist.
Result<Descriptor> open_folder(const std::string& path);
/// Makes a socket, to listen or to connect by.
Result<Descriptor> make_socket();
/// Binds the socket to the control socket of a folder, for its owner only, and listens; returns
/// whether that succeeded, else sets errno.
bool listen_control(int socket, int folder);
/// Connects the socket to the control socket of a folder, within `patience`; returns whether that
/// succeeded, else sets errno.
bool connect_control(int socket, int folder, std::chrono::seconds patience);

/// Receives one line of at most `most` bytes, without its end. kTimeout: the other side did not
/// send it within `patience`, however it divides it, or hung up. kCorrupt: the line is longer.
Result<std::string> receive_line(int socket, std::size_t most, std::chrono::nanoseconds patience);
/// Sends a line and its end; false: the other side did not take it within `patience`.
bool send_line(int socket, const std::string& line, std::chrono::nanoseconds patience);

}  // namespace forebay
