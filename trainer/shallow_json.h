#pragma once

#include <string_view>

namespace forebay {

/// Whether nothing in a JSON text lies deeper than a checkpoint's texts ever do: 64 levels. Asked
/// of texts from outside before they are parsed, as values are copied and written level by level on
/// the stack.
bool is_shallow_json(std::string_view text);

}  // namespace forebay
