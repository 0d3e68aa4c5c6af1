#include "trainer/shallow_json.h"

#include <cstddef>

namespace forebay {

bool is_shallow_json(std::string_view text) {
  constexpr int kMost = 64;
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (in_string) {
      if (letter == '\\') ++i;
      if (letter == '"') in_string = false;
    } else if (letter == '"') {
      in_string = true;
    } else if (letter == '[' || letter == '{') {
      if (++depth > kMost) return false;
    } else if (letter == ']' || letter == '}') {
      --depth;
    }
  }
  return true;
}

}  // namespace forebay
