#include "tools/process/standard_streams.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "core/base/text/printable.h"

namespace forebay {
namespace {

bool& json_printed() {
  static bool printed = false;
  return printed;
}

}  // namespace

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

void print_message(std::string_view line) {
  std::fprintf(stderr, "forebay: %s\n", printable_message(line).c_str());
}

void print_line(std::string_view line) { std::printf("%s\n", printable_message(line).c_str()); }

void print_json(const JsonObject& object) {
  json_printed() = true;
  std::printf("%s\n", object.text().c_str());
  std::fflush(stdout);
}

bool has_printed_json() { return json_printed(); }

}  // namespace forebay
