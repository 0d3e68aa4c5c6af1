#include "core/base/text/printable.h"

#include <algorithm>

#include "core/base/text/hex.h"
#include "core/base/text/utf8.h"

namespace forebay {
namespace {

/// C1 controls, U+0080 to U+009F: a terminal obeys each as it obeys ESC and a letter.
bool is_late_control(std::string_view character) {
  return character.size() == 2 && character[0] == '\xc2' &&
         static_cast<unsigned char>(character[1]) < 0xa0;
}

bool is_plain(std::string_view character) {
  if (character.size() != 1) return !character.empty() && !is_late_control(character);
  const auto byte = static_cast<unsigned char>(character.front());
  return byte >= 0x20 && byte != 0x7f && byte < 0x80;
}

void append_escaped(std::string& shown, std::string_view bytes) {
  for (const char each : bytes) {
    shown += "\\x";
    append_hex(shown, static_cast<unsigned char>(each));
  }
}

/// Removes the first character from `text` and returns it; the first byte when it begins no
/// character.
std::string_view take_character(std::string_view& text) {
  const std::size_t size = std::max<std::size_t>(character_size(text), 1);
  const std::string_view first = text.substr(0, size);
  text.remove_prefix(size);
  return first;
}

/// The largest offset up to `size` at which a character of `text` begins.
std::size_t character_at(std::string_view text, std::size_t size) {
  while (size > 0 && size < text.size() && continues_character(text[size])) --size;
  return size;
}

std::string without_middle(std::string_view text) {
  constexpr std::size_t kEnd = kMostMessageBytes / 4;
  constexpr std::string_view kLeftOut = " … ";
  const std::size_t begin = character_at(text, kMostMessageBytes - kEnd - kLeftOut.size());
  return std::string(text.substr(0, begin))
      .append(kLeftOut)
      .append(text.substr(character_at(text, text.size() - kEnd)));
}

/// What is shown otherwise than plainly or as hex.
struct Style {
  std::string_view by_letter;  // control characters that become `\n` or `\t`
  bool escapes_backslash;
  std::size_t most = std::string_view::npos;  // characters
};

std::string shown_as(const Style& style, std::string_view text) {
  std::string shown;
  for (std::size_t characters = 0; !text.empty(); ++characters) {
    if (characters == style.most) return shown + "…";
    const std::string_view next = take_character(text);
    if (style.by_letter.find(next) != std::string_view::npos) {
      shown += next == "\n" ? "\\n" : "\\t";
    } else if (is_plain(next) && !(style.escapes_backslash && next == "\\")) {
      shown += next;
    } else {
      append_escaped(shown, next);
    }
  }
  return shown;
}

}  // namespace

std::string printable(std::string_view text, std::size_t most) {
  return shown_as({.by_letter = "\t", .escapes_backslash = true, .most = most}, text);
}

std::string printable_field(std::string_view text) {
  return shown_as({.by_letter = "", .escapes_backslash = true}, text);
}

std::string printable_message(std::string_view text) {
  // The part cut away needs no check: every character takes at least one byte of the result.
  const std::string cut =
      text.size() > kMostMessageBytes ? without_middle(text) : std::string(text);
  const std::string shown = shown_as({.by_letter = "\n\t", .escapes_backslash = false}, cut);
  return shown.size() > kMostMessageBytes ? without_middle(shown) : shown;
}

}  // namespace forebay
