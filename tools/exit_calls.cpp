// _exit and _Exit as the program `forebay` has them, for its own code and for every library that it
// opens: an end that users' code makes is an error, whatever status it asks for. The C library's
// own calls (at the end of exit) do not come here.

#include <unistd.h>

#include <cstdlib>

#include "tools/process/user_code_guard.h"

extern "C" {

__attribute__((visibility("default"))) void _exit(int status) {
  forebay::UserCodeGuard::called_exit("_exit", status);
}

__attribute__((visibility("default"))) void _Exit(int status) noexcept {
  forebay::UserCodeGuard::called_exit("_Exit", status);
}

}  // extern "C"
