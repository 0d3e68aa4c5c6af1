// Defines _exit and _Exit for the program `forebay`, for its own code and for every library that it
// opens: if users' code ends the process, that is an error whatever status it passes. The C
// library's own calls (at the end of exit) do not reach these functions.

#include <unistd.h>

#include "tools/process/user_code_guard.h"

extern "C" {

__attribute__((visibility("default"))) void _exit(int status) {
  forebay::UserCodeGuard::called_exit("_exit", status);
}

__attribute__((visibility("default"))) void _Exit(int status) noexcept {
  forebay::UserCodeGuard::called_exit("_Exit", status);
}

}  // extern "C"
