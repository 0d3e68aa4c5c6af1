#include "engine/dashboard/dashboard.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/dashboard/page.h"
#include "tests/support/http_client.h"
#include "tests/support/manual_clock.h"
#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using Client = test::HttpClient;

/// A page that nothing runs behind.
struct Served {
  test::TempDir dir;
  test::ManualClock clock;
  RunRecorder recorder{{.path = dir.path(kRecordName),
                        .command = "ingest",
                        .job = "job.toml",
                        .began = 0,
                        .clock = clock}};
  std::unique_ptr<Dashboard> dashboard;

  explicit Served(const std::string& address = "127.0.0.1:0", const std::string& token = "") {
    auto opened = Dashboard::open(address, token, recorder);
    REQUIRE(opened);
    dashboard = std::move(*opened);
  }
  std::uint16_t port() const {
    const std::string said = dashboard->announcement();
    const std::size_t colon = said.find(':', said.find("http://") + 7);
    return static_cast<std::uint16_t>(std::stoi(said.substr(colon + 1)));
  }
  std::string ask(const std::string& line,
                  const std::string& headers = "Host: localhost\r\n") const {
    const Client client(port());
    client.send(line + " HTTP/1.1\r\n" + headers + "\r\n");
    return client.receive();
  }
};

bool is(const std::string& answer, const std::string& status) {
  return answer.starts_with("HTTP/1.1 " + status + " ");
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a page serves itself, the status and the history", "[engine][dashboard]") {
  const Served served;
  CHECK(served.dashboard->announcement() ==
        "dashboard: http://127.0.0.1:" + std::to_string(served.port()) + "/");
  const std::string page = served.ask("GET /");
  CHECK(is(page, "200"));
  CHECK(holds(page, "\r\nContent-Type: text/html; charset=utf-8\r\n"));
  CHECK(holds(page, "\r\nX-Content-Type-Options: nosniff\r\n"));
  CHECK(page.ends_with(page_html()));
  CHECK(served.ask("GET /api/status").ends_with(R"({"command":"ingest","state":"starting"})"));
  CHECK(served.ask("GET /api/history?seconds=60").ends_with("\r\n\r\n[]"));
  CHECK(is(served.ask("GET /api/history?seconds=-1"), "400"));
}

TEST_CASE("other methods, paths and hosts are refused", "[engine][dashboard]") {
  const Served served;
  for (const char* method : {"POST", "PUT", "DELETE", "HEAD", "OPTIONS"}) {
    CAPTURE(method);
    CHECK(is(served.ask(std::string(method) + " /api/status"), "405"));
  }
  for (const char* path : {"/index.html", "/api", "/api/status/", "/../etc/passwd", "/%2e%2e/"}) {
    CAPTURE(path);
    CHECK(is(served.ask(std::string("GET ") + path), "404"));
  }
  CHECK(is(served.ask("GET /api/status", "Host: evil.example\r\n"), "403"));
  CHECK(is(served.ask("GET /api/status", "Host: \r\n"), "403"));
  CHECK_FALSE(is(served.ask("NONSENSE"), "200"));
}

TEST_CASE("a request with no header Host or with two is refused", "[engine][dashboard]") {
  const Served served;
  CHECK(is(served.ask("GET /api/status", "X: y\r\n"), "400"));
  for (const char* other : {"localhost", "evil.example"}) {
    const std::string two = std::string("Host: localhost\r\nhost: ") + other + "\r\n";
    CHECK(is(served.ask("GET /api/status", two), "400"));
  }
}

TEST_CASE("a request that is too long is refused", "[engine][dashboard]") {
  const Served served;
  const std::string long_header(2 * HttpServer::kMostRequestBytes, 'x');
  CHECK_FALSE(is(served.ask("GET /", "Host: localhost\r\nX: " + long_header + "\r\n"), "200"));
  CHECK(is(served.ask("GET /"), "200"));
}

TEST_CASE("with a token the page asks for it once and keeps it in a cookie",
          "[engine][dashboard]") {
  const std::string token = "a-token-of-the-environment";
  const Served served("127.0.0.1:0", token);
  CHECK_FALSE(holds(served.dashboard->announcement(), token));
  CHECK(is(served.ask("GET /"), "401"));
  CHECK(is(served.ask("GET /api/events?token=a-token-of-the-environmenT"), "401"));
  const std::string moved = served.ask("GET /?token=" + token);
  CHECK(is(moved, "303"));
  CHECK(holds(moved, "\r\nLocation: /\r\n"));
  CHECK(holds(moved, "; HttpOnly; SameSite=Lax\r\n"));
  CHECK(
      is(served.ask("GET /", "Host: localhost\r\nCookie: forebay_token=" + token + "\r\n"), "200"));
  CHECK(is(served.ask("GET /api/status?token=" + token), "200"));
}

TEST_CASE("beyond loopback a token is made up, and the start says that nothing is encrypted",
          "[engine][dashboard]") {
  const Served served("0.0.0.0:0");
  const std::string said = served.dashboard->announcement();
  CHECK(holds(said, "/?token="));
  CHECK(holds(said, " (not encrypted: "));
  CHECK_FALSE(holds(said, "\n"));
  const std::string token = said.substr(said.find("token=") + 6, 32);
  CHECK(is(served.ask("GET /"), "401"));
  CHECK(is(served.ask("GET /?token=" + token), "303"));
}

TEST_CASE("a viewer gets the events so far, those that follow, and the end",
          "[engine][dashboard]") {
  Served served;
  served.recorder.decided(JsonObject().add("number", 1));
  const Client early(served.port());
  early.send("GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const std::string begun = early.receive("\"number\":1}");
  CHECK(holds(begun, "\r\nContent-Type: text/event-stream\r\n"));
  CHECK(holds(begun, "id: 1\nevent: decision\ndata: {\"time\":"));
  served.recorder.warn("a line");
  CHECK(holds(early.receive("a line"), "id: 2\nevent: warning\n"));
  served.recorder.end("stopped", "");
  CHECK(holds(early.receive(), "id: 3\nevent: end\n"));
  const std::string late = served.ask("GET /api/events", "Host: localhost\r\nLast-Event-ID: 2\r\n");
  CHECK(holds(late, "event: end"));
  CHECK_FALSE(holds(late, "event: warning"));
}

TEST_CASE("viewers beyond the most are told to come later", "[engine][dashboard]") {
  const Served served;
  std::vector<std::unique_ptr<Client>> viewers;
  for (int i = 0; i < Dashboard::kStreams; ++i) {
    viewers.push_back(std::make_unique<Client>(served.port()));
    viewers.back()->send("GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    viewers.back()->receive(": \n\n");
  }
  CHECK(is(served.ask("GET /api/events"), "503"));
  CHECK(is(served.ask("GET /api/status"), "200"));
}

TEST_CASE("a viewer that never reads holds up neither events nor the end", "[engine][dashboard]") {
  Served served;
  const Client stuck(served.port(), 2048);
  stuck.send("GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const std::string large(8192, 'x');
  for (int i = 0; i < 2000; ++i) served.recorder.decided(JsonObject().add("why", large));
  CHECK(is(served.ask("GET /api/status"), "200"));
  served.recorder.end("done", "");
  served.dashboard.reset();  // returns
}

TEST_CASE("an address that is none or is taken is refused by its key", "[engine][dashboard]") {
  Served served;
  const std::string taken = "127.0.0.1:" + std::to_string(served.port());
  for (const std::string& address : {std::string("nowhere"), taken}) {
    const auto refused = Dashboard::open(address, "", served.recorder);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == Code::kInvalid);
    CHECK(refused.error().message.starts_with("run.dashboard: "));
    CHECK(holds(refused.error().message, address));
  }
  CHECK_FALSE(Dashboard::open("127.0.0.1:0", "short", served.recorder));
}

}  // namespace forebay
