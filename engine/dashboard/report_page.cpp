#include <string>
#include <vector>

#include "engine/dashboard/page.h"

namespace forebay {
namespace {

/// Where the page looks for records: an element that holds no script and is empty in a live page.
constexpr std::string_view kPlace = "<script type=\"application/json\" id=\"records\"></script>";

/// Writes `<` so that no text of a record can end the element that it stands in.
void append_escaped(const std::string& json, std::string& to) {
  for (const char letter : json) {
    if (letter == '<') {
      to += "\\u003c";
    } else {
      to += letter;
    }
  }
}

}  // namespace

std::string report_html(const std::vector<std::string>& records) {
  const std::string_view page = page_html();
  const std::size_t place = page.find(kPlace);
  const std::size_t inside = place + kPlace.find("></") + 1;
  std::string text(page.substr(0, inside));
  text += '[';
  for (const std::string& record : records) {
    if (text.back() != '[') text += ',';
    append_escaped(record, text);
  }
  text += ']';
  return text.append(page.substr(inside));
}

}  // namespace forebay
