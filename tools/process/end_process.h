#pragma once

namespace forebay {

/// Ends the process now, with this status: no destructors, no atexit handlers, nothing flushed.
/// What Forebay itself ends so; a plain _exit of the program is taken for one of a user's library
/// (see user_code_guard.h). Any thread, signal handlers too.
[[noreturn]] void end_process(int status);

}  // namespace forebay
