#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace forebay {

/// The parts of a request that the page's server looks at. A value.
struct HttpRequest {
  std::string method = {};
  std::string path = {};   ///< `/api/status`
  std::string query = {};  ///< Without its `?`.
  std::string host = {};   ///< The header Host, the first of several.
  int hosts = 1;           ///< How many headers Host there are.
  std::string cookie = {};
  std::string last_event_id = {};  ///< The header Last-Event-ID, of a stream that goes on.
};

/// Returns the value of a parameter of a query: `seconds=60&token=x`. Values are not decoded, since
/// none that is used here needs it.
std::optional<std::string> parameter(std::string_view query, std::string_view name);

/// Returns the value of one cookie of the header Cookie.
std::optional<std::string> cookie_value(std::string_view cookies, std::string_view name);

}  // namespace forebay
