#include "tools/terminal/print_json.h"

#include <cstdio>

namespace forebay {

void print_json(const JsonObject& object) {
  std::printf("%s\n", object.text().c_str());
  std::fflush(stdout);
}

}  // namespace forebay
