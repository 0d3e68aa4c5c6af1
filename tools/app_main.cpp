#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "tools/command/command_line.h"
#include "tools/process/memory_use.h"
#include "tools/process/standard_streams.h"
#include "tools/process/stop_request.h"

namespace {

int report(forebay::Exit exit) {
  if (!forebay::flush_stdout() && exit.status == 0) {
    exit = {forebay::Exit::kFailed, "stdout: the result could not be written there"};
  }
  if (!exit.message.empty()) std::fprintf(stderr, "forebay: %s\n", exit.message.c_str());
  return exit.status;
}

}  // namespace

int main(int argc, char** argv) {
  forebay::open_closed_streams();
  forebay::bound_heap_arenas();
  forebay::StopRequest::install();
  try {
    return report(forebay::run_command_line(std::vector<std::string>(argv + 1, argv + argc)));
  } catch (const std::bad_alloc&) {
    return report({forebay::Exit::kFailed, "out of memory"});
  } catch (const std::exception& error) {
    return report({forebay::Exit::kFailed, error.what()});
  }
}
