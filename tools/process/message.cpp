#include "tools/process/message.h"

#include <cstdio>

#include "core/base/printable.h"

namespace forebay {

void print_message(std::string_view line) {
  std::fprintf(stderr, "forebay: %s\n", printable_message(line).c_str());
}

void print_line(std::string_view line) { std::printf("%s\n", printable_message(line).c_str()); }

}  // namespace forebay
