#include "engine/dashboard/dashboard.h"

#include <unistd.h>

#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/net/host_port.h"
#include "engine/dashboard/page.h"
#include "engine/job/quantity.h"

namespace forebay {
namespace {

/// A viewer that is gone is found when something is sent to it.
constexpr std::chrono::seconds kHeartbeat{2};
/// At the end, viewers get so long to take the last events.
constexpr std::chrono::milliseconds kFarewell{500};
constexpr std::uint64_t kMostSeconds = RunHistory::kMostLast;

std::string machine_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

HttpAnswer refusal(int status, const std::string& why) {
  return {.status = status, .body = "forebay: " + why + "\n"};
}

HttpAnswer json(std::string body) { return {.type = "application/json", .body = std::move(body)}; }

/// Headers of every answer: no cache keeps it, no browser guesses its type, no site frames it.
void add_headers(HttpAnswer& answer) {
  for (const auto& [name, value] : {std::pair{"Cache-Control", "no-store"},
                                    {"X-Content-Type-Options", "nosniff"},
                                    {"X-Frame-Options", "DENY"},
                                    {"Cross-Origin-Resource-Policy", "same-origin"},
                                    {"Referrer-Policy", "no-referrer"}}) {
    answer.headers.emplace_back(name, value);
  }
}

std::string text_of(const RunEvent& event) {
  return "id: " + std::to_string(event.number) + "\nevent: " + event.kind +
         "\ndata: " + event.data + "\n\n";
}

std::uint64_t number_or_0(const std::string& text) { return parse_count(text).value_or(0); }

}  // namespace

Dashboard::Dashboard(PageAccess::Options options, bool made_up, RunRecorder& recorder)
    : options_(options), access_(std::move(options)), made_up_(made_up), recorder_(recorder) {}

Dashboard::~Dashboard() {
  closing_ = true;
  recorder_.events().close();
  // The server drops events that it has not sent yet.
  static_cast<void>(streams_.wait(
      kFarewell, [](int streams) { return streams == 0; }, [](int) {}));
  server_.reset();
}

Result<std::unique_ptr<Dashboard>> Dashboard::open(const std::string& address, std::string token,
                                                   RunRecorder& recorder) {
  const auto refused = [](const Error& why) {
    return fail(Code::kInvalid, "run.dashboard: " + why.message);
  };
  auto at = parse_address(address);
  if (!at) return refused(at.error());
  if (!token.empty()) {
    if (auto fits = check_token(token); !fits) return pass(fits);
  }
  const bool made_up = token.empty() && !is_loopback(at->host);
  if (made_up) {
    auto random = random_token();
    if (!random) return pass(random);
    token = std::move(*random);
  }
  auto dashboard = std::unique_ptr<Dashboard>(  // NOLINT: the constructor is private.
      new Dashboard({.host = at->host, .name = machine_name(), .token = std::move(token)}, made_up,
                    recorder));
  Dashboard* self = dashboard.get();
  auto server = HttpServer::open(
      at->host, at->port,
      {.answer = [self](const HttpRequest& request) { return self->answer(request); },
       .stream = [self](const HttpRequest& request,
                        const HttpServer::Send& send) { self->stream(request, send); }});
  if (!server) return refused(server.error());
  dashboard->server_ = std::move(*server);
  return dashboard;
}

std::string Dashboard::announcement() const {
  const bool everywhere = options_.host == "0.0.0.0" || options_.host == "::";
  const HostPort at{.host = everywhere ? options_.name : options_.host, .port = server_->port()};
  std::string text = "dashboard: http://" + at.text() + "/";
  if (made_up_) text += "?token=" + options_.token;
  if (!made_up_ && access_.needs_token()) {
    text += std::string(" (add ?token= and the token in ") + kTokenVariable + ")";
  }
  if (!is_loopback(options_.host)) {
    text +=
        " (not encrypted: whoever can read the network between it and a browser can read the page "
        "and its token)";
  }
  return text;
}

HttpAnswer Dashboard::answer(const HttpRequest& request) {
  HttpAnswer answer = answer_path(request);
  add_headers(answer);
  return answer;
}

HttpAnswer Dashboard::answer_path(const HttpRequest& request) {
  // RFC 9112, 3.2: a proxy may have looked at another one than this server would.
  if (request.hosts != 1) return refusal(400, "a request must have one header Host");
  if (!access_.knows_host(request.host)) {
    return refusal(403,
                   "the header Host names another machine; use the address that the run printed");
  }
  if (request.method != "GET") {
    HttpAnswer answer = refusal(405, "the page is read-only; forebay set changes a running job");
    answer.headers.emplace_back("Allow", "GET");
    return answer;
  }
  const auto entry = access_.entry_of(request);
  if (entry == PageAccess::Entry::kRefused) {
    return refusal(401, "the token is missing or wrong; use the address that the run printed");
  }
  if (request.path == "/") {
    if (entry == PageAccess::Entry::kByQuery) {
      return {.status = 303, .headers = {{"Location", "/"}, {"Set-Cookie", access_.cookie()}}};
    }
    return {.type = "text/html; charset=utf-8", .body = std::string(page_html())};
  }
  if (request.path == "/api/status") return json(recorder_.status());
  if (request.path == "/api/history") {
    const auto given = parameter(request.query, "seconds");
    const auto seconds = given ? parse_count(*given) : std::optional(kMostSeconds);
    if (!seconds) return refusal(400, "seconds must be a whole number");
    return json(recorder_.history(static_cast<double>(*seconds)));
  }
  if (request.path == "/api/events") return begin_stream();
  return refusal(404, "there are /, /api/status, /api/history?seconds=N and /api/events");
}

HttpAnswer Dashboard::begin_stream() {
  const bool one_more = streams_.change([](int& streams) {
    if (streams == kStreams) return false;
    ++streams;
    return true;
  });
  if (one_more) return {.type = "text/event-stream", .body = ": \n\n"};
  return refusal(503, std::to_string(kStreams) + " viewers get events already; try again later");
}

// Each round sends the new events, or a comment, which shows whether the viewer is there.
void Dashboard::stream(const HttpRequest& request, const HttpServer::Send& send) {
  EventLog& events = recorder_.events();
  std::uint64_t sent = number_or_0(request.last_event_id);
  bool there = true;
  while (there) {
    const bool last = closing_ || events.closed();
    const auto more = last ? events.wait_after(sent, {}) : events.wait_after(sent, kHeartbeat);
    std::string text;
    for (const RunEvent& event : more) text += text_of(event);
    if (!more.empty()) sent = more.back().number;
    there = send(text.empty() ? ": \n\n" : text) && !last;
  }
  streams_.change([](int& streams) { --streams; });
}

}  // namespace forebay
