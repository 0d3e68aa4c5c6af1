#pragma once

#include "tools/process/exit_status.h"

namespace forebay {

/// Ends the process at once if actors may still be running, since an actor stuck in a user's
/// function would block an orderly end. Everything that had to be saved must be saved before.
[[noreturn]] void leave(const Exit& exit);

}  // namespace forebay
