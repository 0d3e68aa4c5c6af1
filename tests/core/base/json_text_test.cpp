#include "core/base/text/json_text.h"

#include <string>

#include <nlohmann/json.hpp>

#include "tests/support/catch.h"

namespace forebay {
namespace {

using nlohmann::json;

bool parses(const std::string& text) { return !parse_json(text).is_discarded(); }

TEST_CASE("JSON may lie 64 levels deep, and strings have no levels", "[core][json]") {
  CHECK(parses(std::string(64, '[') + std::string(64, ']')));
  CHECK_FALSE(parses(std::string(65, '[') + std::string(65, ']')));
  CHECK_FALSE(parses(std::string(64, '[') + "{}" + std::string(64, ']')));
  CHECK(parses("\"" + std::string(65, '[') + "\""));
  CHECK(parses("\"\\\"" + std::string(65, '[') + "\""));
  CHECK_FALSE(parses("[\"\\\\\"," + std::string(65, '[') + std::string(65, ']') + "]"));
  std::string wide = "[0";
  for (int i = 0; i < 100; ++i) wide += ",[{}]";
  CHECK(parses(wide + "]"));
}

TEST_CASE("text that is not JSON is discarded without an exception", "[core][json]") {
  CHECK_FALSE(parses(""));
  CHECK_FALSE(parses("{\"rows\":"));
  CHECK_FALSE(parses("\xff"));
  CHECK(parse_json("{\"rows\":3}") == json{{"rows", 3}});
}

TEST_CASE("an object with a key twice is discarded, however the key is written", "[core][json]") {
  CHECK_FALSE(parses("{\"rows\":3,\"rows\":3}"));
  CHECK_FALSE(parses("{\"rows\":3,\"\\u0072ows\":4}"));
  CHECK_FALSE(parses("[{\"a\":{\"b\":1,\"c\":[],\"b\":2}}]"));
  CHECK(parses("{\"a\":{\"a\":1},\"b\":[{\"a\":1},{\"a\":1}]}"));
}

TEST_CASE("JSON text is one line, or a line a field, and always UTF-8", "[core][json]") {
  CHECK(json_text(json{{"rows", 3}}) == "{\"rows\":3}");
  CHECK(json_text(json{{"rows", 3}}, 1) == "{\n \"rows\": 3\n}");
  CHECK(json_text(nlohmann::ordered_json{{"z", 1}, {"a", 2}}) == "{\"z\":1,\"a\":2}");
  CHECK(json_text(json(std::string("\xff"))) == "\"\xef\xbf\xbd\"");
}

}  // namespace
}  // namespace forebay
