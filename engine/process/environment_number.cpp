#include "engine/process/environment_number.h"

#include <charconv>

#include "core/base/printable.h"

namespace forebay {

Result<std::uint64_t> environment_number(const std::string& name, std::string_view text,
                                         std::uint64_t least, std::uint64_t most) {
  constexpr std::size_t kShown = 40;
  std::uint64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
  if (whole && value >= least && value <= most) return value;
  return fail(Code::kInvalid, name + " is \"" + printable(text, kShown) +
                                  "\" in the environment and must be a whole number within " +
                                  std::to_string(least) + " to " + std::to_string(most));
}

}  // namespace forebay
