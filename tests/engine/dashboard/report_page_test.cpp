#include <string>

#include "engine/dashboard/page.h"

#include "tests/support/catch.h"

namespace forebay {

TEST_CASE("the page is small, asks no other server, and has its sections' names",
          "[engine][dashboard]") {
  const std::string page(page_html());
  CHECK(page.size() < 150'000);
  for (const char* text : {"src=", "href=\"http", "url(", "@import"}) {
    CAPTURE(text);
    CHECK(page.find(text) == std::string::npos);
  }
  CHECK(page.find("default-src 'none'") != std::string::npos);
}

TEST_CASE("records stand in a report as data that can end no element", "[engine][dashboard]") {
  const std::string page(page_html());
  const std::string report = report_html({R"({"job":"</script><b>"})", "{}"});
  CHECK(report.find(R"(id="records">[{"job":"\u003c/script>\u003cb>"},{}]</script>)") !=
        std::string::npos);
  CHECK(report.size() ==
        page.size() + std::string(R"([{"job":"\u003c/script>\u003cb>"},{}])").size());
}

}  // namespace forebay
