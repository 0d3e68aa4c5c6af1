#include <algorithm>
#include <string>
#include <string_view>

#include "tools/command/command_line.h"

namespace forebay {

std::string version_page() {
  // The build sets `zlib 1.2.13|zstd 1.5.4|…`; one line for each here.
  std::string page = "forebay " FOREBAY_VERSION "\n";
  std::string_view rest = FOREBAY_LIBRARIES;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('|'), rest.size());
    page += "  " + std::string(rest.substr(0, end)) + "\n";
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return page;
}

}  // namespace forebay
