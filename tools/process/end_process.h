#pragma once

namespace forebay {

/// Ends the process now with this status: no destructors, no atexit handlers, no flush. Forebay's
/// own code ends the process by this function only; a plain _exit of the program is attributed to a
/// user's library (see user_code_guard.h). Any thread, signal handlers too.
[[noreturn]] void end_process(int status);

}  // namespace forebay
