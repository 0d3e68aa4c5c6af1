#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "tools/command/command_line.h"
#include "tools/process/memory_use.h"
#include "tools/process/stop_request.h"

namespace {

int report(const forebay::Exit& exit) {
  std::fflush(stdout);
  if (!exit.message.empty()) std::fprintf(stderr, "forebay: %s\n", exit.message.c_str());
  return exit.status;
}

}  // namespace

int main(int argc, char** argv) {
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
