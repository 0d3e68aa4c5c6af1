#pragma once

#include "tools/process/exit_status.h"

namespace forebay {

/// Ends the process at once when actors may still be at work, since one stuck in a user's function
/// would hold up an orderly end; everything that had to be saved has been.
[[noreturn]] void leave(const Exit& exit);

}  // namespace forebay
