#pragma once

#include <string>

#include "core/base/descriptor.h"
#include "core/base/result.h"

namespace forebay {

/// Functions for both sides of a job's control socket. The socket is opened relative to its
/// folder's descriptor, since the path of a socket is limited to 107 bytes.
inline constexpr const char* kControlName = "control";

/// Opens the folder; kNotFound: it does not exist.
Result<Descriptor> open_folder(const std::string& path);
/// Makes a socket with a timeout of `seconds` for the other side.
Result<Descriptor> make_socket(int seconds);
/// Binds or connects the socket to the control socket of a folder; returns whether that succeeded.
bool bind_control(int socket, int folder);
bool connect_control(int socket, int folder);
/// Receives one line of at most `most` bytes, without its end; kTimeout, kCorrupt.
Result<std::string> receive_line(int socket, std::size_t most);
bool send_line(int socket, const std::string& line);

}  // namespace forebay
