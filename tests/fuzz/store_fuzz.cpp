#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "actors/input/store/protocol/response_head.h"
#include "actors/input/store/protocol/store_xml.h"
#include "actors/input/store/protocol/url.h"
#include "core/base/check.h"

/// What a server sends: a listing, a refusal, a head. Any of it may be an address, too.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto page = forebay::parse_list_page(bytes)) {
    FOREBAY_CHECK(!page->truncated || !page->next.empty());
    for (const auto& object : page->objects) FOREBAY_CHECK(object.key.size() <= size);
  }
  const forebay::Refusal refusal = forebay::parse_refusal(bytes);
  FOREBAY_CHECK(refusal.code.find('\n') == std::string::npos);
  forebay::ResponseHead head;
  for (std::string_view rest = bytes; !rest.empty();) {
    const auto end = rest.find('\n');
    head.add_line(rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  if (const auto range = head.content_range) {
    FOREBAY_CHECK(range->first <= range->end && range->end <= range->total);
  }
  if (const auto url = forebay::parse_url(std::string(bytes))) {
    FOREBAY_CHECK(url->path.front() == '/');
    FOREBAY_CHECK(forebay::parse_url(url->text())->text() == url->text());
  }
  FOREBAY_CHECK(forebay::percent_decode(forebay::percent_encode(bytes, forebay::Slash::kEncode)) ==
                bytes);
  return 0;
}
