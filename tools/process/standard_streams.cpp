#include "tools/process/standard_streams.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

namespace forebay {

void open_closed_streams() {
  // open() returns the lowest free number, so it is above the three streams if all of them are
  // open.
  int opened = ::open("/dev/null", O_RDWR);
  while (opened >= 0 && opened <= STDERR_FILENO) opened = ::open("/dev/null", O_RDWR);
  if (opened >= 0) ::close(opened);
}

bool flush_stdout() {
  std::fflush(stdout);
  if (std::ferror(stdout) == 0) return true;
  struct stat there {};
  return ::fstat(STDOUT_FILENO, &there) == 0 &&
         (S_ISFIFO(there.st_mode) || S_ISSOCK(there.st_mode));
}

}  // namespace forebay
