#include "tools/symmetric/meeting.h"

#include <poll.h>

#include <string_view>

#include "core/base/clock.h"
#include "core/net/host_port.h"
#include "engine/job/quantity.h"
#include "engine/job/text_file.h"

namespace forebay {
namespace {

constexpr std::string_view kScheme = "tcp://";
constexpr int kLookMs = 200;
constexpr std::chrono::seconds kConnect(2);

bool answers(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  std::string host = address.substr(kScheme.size(), colon - kScheme.size());
  if (host.size() > 2 && host.front() == '[') host = host.substr(1, host.size() - 2);
  const auto port = parse_count(address.substr(colon + 1));
  return port && *port <= 65535 &&
         is_listened_at(host, static_cast<std::uint16_t>(*port), kConnect);
}

}  // namespace

std::string joinable(const std::string& written, const std::string& first_host) {
  std::string address = written.substr(0, written.find('\n'));
  const std::size_t colon = address.rfind(':');
  if (!address.starts_with(kScheme) || colon <= kScheme.size() || colon + 1 >= address.size()) {
    return "";
  }
  const std::string host = address.substr(kScheme.size(), colon - kScheme.size());
  const bool anywhere = host == "0.0.0.0" || host == "*" || host == "[::]";
  if (!anywhere || first_host.empty()) return address;
  return std::string(kScheme) + first_host + address.substr(colon);
}

Result<std::string> await_head(const MeetingPoint& point,
                               const std::function<bool(std::chrono::nanoseconds)>& ended) {
  const SystemClock clock;
  const std::chrono::nanoseconds began = clock.now();
  while (clock.now() - began < point.patience) {
    if (ended(clock.now() - began)) return "";
    const auto written = read_text_file("address file", point.address_file);
    const std::string told = written ? joinable(*written, point.first_host) : "";
    if (!told.empty() && answers(told)) return told;
    if (clock.now() - began > point.alone && point.port != 0 && !point.first_host.empty()) {
      const std::string guessed =
          std::string(kScheme) + point.first_host + ":" + std::to_string(point.port);
      if (answers(guessed)) return guessed;
    }
    // There is no notification for changes of a file on another machine's disk. A signal ends this
    // wait at once.
    ::poll(nullptr, 0, kLookMs);
  }
  return fail(Code::kTimeout,
              "no head wrote " + point.address_file +
                  (point.first_host.empty()
                       ? ""
                       : " or listened on " + point.first_host + ":" + std::to_string(point.port)) +
                  "; look at what rank 0 said");
}

}  // namespace forebay
