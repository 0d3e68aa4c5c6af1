#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "core/base/open_files.h"
#include "engine/process/memory_use.h"
#include "tools/command/commands.h"
#include "tools/process/process_end.h"
#include "tools/process/standard_streams.h"
#include "tools/process/user_code_guard.h"

namespace {

int report(const forebay::Exit& end) {
  const forebay::Exit exit = forebay::with_output_flushed(end);
  if (!exit.message.empty()) forebay::print_message(exit.message);
  return exit.status;
}

forebay::Exit run(const std::vector<std::string>& arguments) {
  try {
    return forebay::run_command_line(arguments);
  } catch (const std::bad_alloc&) {
    return {forebay::Exit::kFailed, "out of memory"};
  } catch (const std::exception& error) {
    return {forebay::Exit::kFailed, error.what()};
  }
}

}  // namespace

int main(int argc, char** argv) {
  forebay::open_closed_streams();
  forebay::raise_descriptor_limit();
  forebay::bound_heap_arenas();
  forebay::StopRequest::install();
  forebay::UserCodeGuard::install();
  const int status = report(run({argv + 1, argv + argc}));
  forebay::UserCodeGuard::main_ends();
  return status;
}
