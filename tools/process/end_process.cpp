#include "tools/process/end_process.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace forebay {

void end_process(int status) {
  while (true) ::syscall(SYS_exit_group, status);
}

}  // namespace forebay
