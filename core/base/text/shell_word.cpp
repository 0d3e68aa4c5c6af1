#include "core/base/text/shell_word.h"

#include <algorithm>

#include "core/base/text/text.h"

namespace forebay {
namespace {

bool is_plain_in_shell(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_-./:,=+%@").find(c) != std::string_view::npos;
}

}  // namespace

std::string shell_word(std::string_view word) {
  if (!word.empty() && std::ranges::all_of(word, is_plain_in_shell)) return std::string(word);
  return "'" + replaced(std::string(word), "'", "'\\''") + "'";
}

}  // namespace forebay
