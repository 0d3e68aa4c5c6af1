#pragma once

#include <string>

#include "core/base/descriptor.h"
#include "core/base/result.h"

namespace forebay {

/// What both ends of a job's control socket share. It is reached through its folder's descriptor,
/// since a socket's path may have no more than 107 bytes.
inline constexpr const char* kControlName = "control";

/// The folder, opened; kNotFound when there is none.
Result<Descriptor> open_folder(const std::string& path);
/// A new socket that waits no longer than `seconds` for the other end.
Result<Descriptor> make_socket(int seconds);
/// Binds or connects it, to the control socket of a folder; what the system said.
bool bind_control(int socket, int folder);
bool connect_control(int socket, int folder);
/// One line of at most `most` bytes, without its end; kTimeout, kCorrupt.
Result<std::string> receive_line(int socket, std::size_t most);
bool send_line(int socket, const std::string& line);

}  // namespace forebay
