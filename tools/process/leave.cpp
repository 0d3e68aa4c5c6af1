#include "tools/process/leave.h"

#include <cstdio>

#include "tools/process/end_process.h"
#include "tools/process/message.h"

namespace forebay {

void leave(const Exit& exit) {
  std::fflush(stdout);
  if (!exit.message.empty()) print_message(exit.message);
  std::fflush(nullptr);
  end_process(exit.status);
}

}  // namespace forebay
