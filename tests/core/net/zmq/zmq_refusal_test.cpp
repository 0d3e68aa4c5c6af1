#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/descriptor.h"
#include "core/net/curve_keys.h"
#include "tests/core/net/transport_side.h"
#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;
using namespace test;

ZmqTransport::Options with_keys(const std::string& folder) {
  ZmqTransport::Options options = quick();
  if (!folder.empty()) options.keys = CurveKeys::read(folder).value();
  return options;
}

/// A transport that connects, and what it tells its user.
class Caller {
 public:
  Caller(const std::string& address, const std::string& keys) : side_(options(keys)) {
    REQUIRE(side_.transport.connect(address));
  }

  void await_session() { side_.peer(); }

  /// Returns the newest sentence, once there are so many.
  std::string told(std::size_t number = 1) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return told_.size() >= number; });
    return told_.back();
  }

 private:
  ZmqTransport::Options options(const std::string& keys) {
    ZmqTransport::Options made = with_keys(keys);
    made.say = [this](const std::string& words) {
      const std::lock_guard lock(mutex_);
      told_.push_back(words);
      changed_.notify_all();
    };
    return made;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> told_;
  Side side_;  // ends first, for its thread tells
};

/// Accepts connections; answers each with a text, or closes it at once.
class Stranger {
 public:
  explicit Stranger(std::string answer) : answer_(std::move(answer)) {
    sockaddr_in any{};
    any.sin_family = AF_INET;
    any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::bind(socket_.number(), reinterpret_cast<sockaddr*>(&any), sizeof(any)) == 0);
    REQUIRE(::listen(socket_.number(), 8) == 0);
    thread_ = std::thread([this] { serve(); });
  }
  ~Stranger() {
    ::shutdown(socket_.number(), SHUT_RDWR);
    thread_.join();
  }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;

  std::string address() const {
    return "127.0.0.1:" + std::to_string(local_port(socket_.number()));
  }

 private:
  void serve() {
    while (true) {
      const Descriptor peer(::accept(socket_.number(), nullptr, nullptr));
      if (!peer) return;
      std::array<char, 64> heard{};
      static_cast<void>(::send(peer.number(), answer_.data(), answer_.size(), MSG_NOSIGNAL));
      if (!answer_.empty()) static_cast<void>(::recv(peer.number(), heard.data(), 64, 0));
    }
  }

  const std::string answer_;
  const Descriptor socket_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  std::thread thread_;
};

TEST_CASE("a node whose keys are refused is told why", "[core][net]") {
  const TempDir dir;
  const std::string keys = dir.path("keys");
  REQUIRE(CurveKeys::create(keys));
  std::string server_keys = keys;
  std::string client_keys = keys;
  std::string why;
  SECTION("its key is not listed") {
    fs::remove(keys + "/clients/client.key");
    why = "its folder clients/ does not list this node's key";
  }
  SECTION("it has no keys") {
    client_keys = "";
    why = "uses keys";  // It may close the connection before it has said so.
  }
  SECTION("it alone has keys") {
    server_keys = "";
    why = "has no keys";  // This, too.
  }
  SECTION("its keys are those of another job") {
    client_keys = dir.path("others");
    REQUIRE(CurveKeys::create(client_keys));
    why = "it closes each connection at once, as a job does that has no keys or another server.key";
  }
  Side server(with_keys(server_keys));
  const std::string address = server.transport.listen("127.0.0.1:0").value();
  Caller caller(address, client_keys);
  const std::string told = caller.told();
  INFO(told);
  CHECK(told.find(address + " refuses this node for now: ") == 0);
  CHECK(told.find(why) != std::string::npos);
}

TEST_CASE("a node that reaches something else than a job is told so", "[core][net]") {
  std::string answer;
  std::string why = "it closes each connection at once, so what listens there may be no job";
  SECTION("which closes connections") {}
  SECTION("which speaks HTTP") { answer = "HTTP/1.1 400 Bad Request\r\n\r\n"; }
  SECTION("which breaks ZeroMQ's protocol") {
    // A greeting of ZMTP 3.0 with the mechanism NULL, and a command that NULL does not have.
    answer = std::string("\xff\0\0\0\0\0\0\0\x01\x7f\x03\0NULL", 16) + std::string(48, '\0') +
             std::string("\x04\x06\x05HELLO", 8);
    why = "what listens there breaks ZeroMQ's protocol, so it is no job";
  }
  const Stranger stranger(answer);
  Caller caller(stranger.address(), "");
  const std::string told = caller.told();
  INFO(told);
  CHECK(told.find(why) != std::string::npos);
}

TEST_CASE("a node whose key is removed again after a session is told once more", "[core][net]") {
  const TempDir dir;
  const std::string keys = dir.path("keys");
  const std::string listed = keys + "/clients/client.key";
  REQUIRE(CurveKeys::create(keys));
  fs::rename(listed, dir.path("away"));
  Side server(with_keys(keys));
  Caller caller(server.transport.listen("127.0.0.1:0").value(), keys);
  const std::string told = caller.told();
  fs::rename(dir.path("away"), listed);
  caller.await_session();
  fs::remove(listed);
  CHECK(caller.told(2) == told);
}

}  // namespace
}  // namespace forebay
