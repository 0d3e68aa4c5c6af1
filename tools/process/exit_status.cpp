#include "tools/process/exit_status.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>

#include "tools/process/standard_streams.h"

namespace forebay {

void end_process(int status) {
  while (true) ::syscall(SYS_exit_group, status);
}

void leave(const Exit& exit) {
  std::fflush(stdout);
  if (!exit.message.empty()) print_message(exit.message);
  std::fflush(nullptr);
  end_process(exit.status);
}

}  // namespace forebay
