#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <zmq.hpp>

#include "core/net/wire_header.h"
#include "tests/core/net/transport_side.h"
#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;
using namespace test;

/// A TCP connection that sends only the bytes of the test.
class BareConnection {
 public:
  explicit BareConnection(const std::string& address)
      : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(parse_address(address)->port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    // The connection is in progress, or refused for now: neither is waited for.
    static_cast<void>(!::connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof(to)));
  }
  ~BareConnection() {
    if (fd_ >= 0) ::close(fd_);
  }
  BareConnection(BareConnection&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  BareConnection& operator=(BareConnection&&) = delete;

  void say(const std::string& bytes) const {
    pollfd wait{fd_, POLLOUT, 0};
    ::poll(&wait, 1, 1000);
    static_cast<void>(!::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL));
  }

  /// All bytes until the other side closes, for 10 seconds at most.
  std::string hear_to_the_end() const {
    std::string heard;
    char bytes[256];
    while (true) {
      pollfd wait{fd_, POLLIN, 0};
      if (::poll(&wait, 1, 10'000) <= 0) return heard + " and it is still open";
      const ssize_t size = ::read(fd_, bytes, sizeof(bytes));
      if (size <= 0) return heard;
      heard.append(bytes, static_cast<std::size_t>(size));
    }
  }

 private:
  int fd_;
};

std::size_t resident_pages() {
  std::size_t size = 0;
  std::size_t resident = 0;
  std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen("/proc/self/statm", "r"), &std::fclose);
  REQUIRE(std::fscanf(file.get(), "%zu %zu", &size, &resident) == 2);
  return resident;
}

struct ListenerFixture {
  explicit ListenerFixture(const ZmqTransport::Options& options = quick()) : server(options) {
    address = server.transport.listen("127.0.0.1:0").value();
    REQUIRE(friendly.transport.connect(address));
    friendly.peer();
  }

  /// Checks that the established session still works.
  void check_friend() {
    const std::size_t before = server.handler.seen().messages.size();
    REQUIRE(friendly.tell(friendly.peer(), "still here"));
    CHECK(server.handler.wait_messages(before + 1).messages.back().head == "still here");
    for (const auto& [peer, reason] : friendly.handler.seen().down) FAIL(reason.message);
  }

  Side server;
  std::string address;
  Side friendly{quick()};
};

/// A DEALER that sends arbitrary frames.
struct RawDealer {
  explicit RawDealer(const std::string& address, const CurveKeys* keys = nullptr,
                     const std::string& route = "") {
    socket.set(zmq::sockopt::linger, 0);
    if (!route.empty()) socket.set(zmq::sockopt::routing_id, route);
    if (keys != nullptr) {
      socket.set(zmq::sockopt::curve_serverkey, keys->server_public);
      socket.set(zmq::sockopt::curve_publickey, keys->client->public_key);
      socket.set(zmq::sockopt::curve_secretkey, keys->client->secret_key);
    }
    socket.connect("tcp://" + address);
  }
  void send(const std::string& bytes, bool more = false) {
    socket.send(zmq::buffer(bytes), more ? zmq::send_flags::sndmore : zmq::send_flags::none);
  }
  /// Whether an answer arrives within that time.
  bool hears(std::chrono::milliseconds time) {
    socket.set(zmq::sockopt::rcvtimeo, static_cast<int>(time.count()));
    zmq::message_t message;
    return socket.recv(message).has_value();
  }

  zmq::context_t context;
  zmq::socket_t socket{context, zmq::socket_type::dealer};
};

std::string header_bytes(const WireHeader& header) {
  std::string bytes(WireHeader::kBytes, '\0');
  header.write(reinterpret_cast<std::byte*>(bytes.data()));
  return bytes;
}

TEST_CASE("addresses that others can reach need keys before a socket opens", "[core][net]") {
  Side side;
  for (const char* address : {"0.0.0.0:0", "10.1.2.3:7000", "[::]:7000", "example.org:7000"}) {
    CAPTURE(address);
    const auto refused = side.transport.listen(address);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == Code::kInvalid);
    CHECK(refused.error().message.find("cluster.keys") != std::string::npos);
    CHECK(side.transport.connect(address).error().code == Code::kInvalid);
  }
  CHECK(check_address_policy("127.0.0.1:7000", false));
  CHECK(check_address_policy("127.8.8.8:7000", false));
  CHECK(check_address_policy("[::1]:7000", false));
  CHECK(check_address_policy("localhost:7000", false));
  CHECK(check_address_policy("10.1.2.3:7000", true));
  CHECK_FALSE(check_address_policy("127.0.0.1.example.org:7000", false));
}

TEST_CASE("an address is HOST:PORT", "[core][net]") {
  CHECK(parse_address("[::1]:80")->host == "::1");
  CHECK(parse_address("[::1]:80")->text() == "[::1]:80");
  CHECK(parse_address("a:65535")->port == 65535);
  for (const char* wrong :
       {"", ":", "a", "a:", ":1", "a:65536", "a:-1", "a:1x", "::1:80", "[]:1"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_address(wrong));
  }
}

TEST_CASE("a message outside the protocol is dropped and counted, and its connection is cut",
          "[core][net]") {
  ListenerFixture fixture;
  SECTION("frames of garbage") {
    RawDealer unauthenticated(fixture.address);
    for (int i = 0; i < 1000; ++i)
      unauthenticated.send(std::string(static_cast<std::size_t>(i), 'g'));
    REQUIRE(fixture.server.wait_counts(
        [](const TransportCounts& counts) { return counts.garbage > 0; }));
    CHECK_FALSE(unauthenticated.hears(100ms));
  }
  SECTION("bytes outside of ZeroMQ's protocol") {
    BareConnection unauthenticated(fixture.address);
    unauthenticated.say("GET / HTTP/1.1\r\nHost: forebay\r\n\r\n" + std::string(100, 'x'));
    unauthenticated.hear_to_the_end();
  }
  SECTION("data of a session that was never begun") {
    RawDealer unauthenticated(fixture.address);
    unauthenticated.send(header_bytes({.kind = WireHeader::Kind::kData, .session = 12345}));
    REQUIRE(fixture.server.wait_counts(
        [](const TransportCounts& counts) { return counts.old_session > 0; }));
  }
  SECTION("another version of the protocol") {
    RawDealer unauthenticated(fixture.address);
    std::string old = header_bytes({.kind = WireHeader::Kind::kHello, .session = 5});
    old[3] = 0;
    unauthenticated.send(old);
    REQUIRE(fixture.server.wait_counts(
        [](const TransportCounts& counts) { return counts.other_version > 0; }));
  }
  CHECK(fixture.server.handler.seen().messages.empty());
  CHECK(fixture.server.handler.seen().up.size() == 1);
  fixture.check_friend();
}

/// A session begun by hand, on both lanes.
struct HandMade {
  explicit HandMade(const std::string& address) : control(address), bulk(address) {
    control.send(header_bytes({.kind = WireHeader::Kind::kHello, .lane = 0, .session = 99}));
    bulk.send(header_bytes({.kind = WireHeader::Kind::kHello, .lane = 1, .session = 99}));
    REQUIRE(control.hears(10s));
  }
  void data(std::uint64_t sequence, const std::string& behind, bool more = false) {
    control.send(header_bytes({.lane = 0, .session = 99, .sequence = sequence}) + behind, more);
  }
  RawDealer control;
  RawDealer bulk;
};

// A relay or an address translation may lose the one half of a connection and keep the other.
TEST_CASE("a lane that was connected again is heard while its old connection stands",
          "[core][net]") {
  ListenerFixture fixture;
  RawDealer control(fixture.address);
  RawDealer broken(fixture.address, nullptr, "lane one");
  control.send(header_bytes({.kind = WireHeader::Kind::kHello, .lane = 0, .session = 99}));
  broken.send(header_bytes({.kind = WireHeader::Kind::kHello, .lane = 1, .session = 99}));
  REQUIRE(broken.hears(10s));
  RawDealer again(fixture.address, nullptr, "lane one");
  again.send(header_bytes({.lane = 1, .session = 99, .sequence = 0}) +
             std::string("\x05\0\0\0hello", 9));
  const auto seen = fixture.server.handler.wait_messages(1);
  REQUIRE(seen.messages.size() == 1);
  CHECK(seen.messages.back().head == "hello");
  fixture.check_friend();
}

TEST_CASE("a session that breaks the protocol ends, and other sessions stay", "[core][net]") {
  ZmqTransport::Options options = quick();
  options.lost_after = 1000;  // So silence does not end it.
  options.max_frame_bytes = 100'000;
  options.max_frames = 8;
  ListenerFixture fixture(options);
  const std::string hello("\x05\0\0\0hello", 9);
  HandMade peer(fixture.address);
  peer.data(0, hello);
  CHECK(fixture.server.handler.wait_messages(1).messages.at(0).head == "hello");
  SECTION("an entry that is longer than its message") {
    peer.data(1, std::string("\xff\xff\xff\xff", 4) + "hello");
  }
  SECTION("a message that was sent before") { peer.data(0, hello); }
  SECTION("one after a message that was lost") { peer.data(2, hello); }
  SECTION("frames after two entries") {
    peer.data(1, hello + hello, true);
    peer.control.send("frame");
  }
  SECTION("a message outside the protocol") { peer.control.send("garbage"); }
  const auto seen = fixture.server.handler.wait_down(1);
  REQUIRE(seen.down.size() == 1);
  CHECK(seen.down[0].second.code == Code::kCorrupt);
  REQUIRE(
      fixture.server.wait_counts([](const TransportCounts& counts) { return counts.garbage > 0; }));
  fixture.check_friend();
}

TEST_CASE("a frame above the limit is never read, and its session is lost", "[core][net]") {
  ZmqTransport::Options options = quick();
  options.max_frame_bytes = 100'000;
  ListenerFixture fixture(options);
  HandMade peer(fixture.address);
  peer.data(0, std::string(200'000, 'x'));
  CHECK(fixture.server.handler.wait_down(1).down.size() == 1);
  CHECK(fixture.server.handler.seen().messages.empty());
  fixture.check_friend();
}

TEST_CASE("messages of an older session are not delivered", "[core][net]") {
  ZmqTransport::Options options = quick();
  ListenerFixture fixture(options);
  const std::string hello("\x05\0\0\0hello", 9);
  HandMade peer(fixture.address);
  peer.data(0, hello);
  // Silent for too long, as a frozen process is; then it continues where it was.
  REQUIRE(fixture.server.handler.wait_down(1).down.size() == 1);
  CHECK(fixture.server.handler.seen().down[0].second.code == Code::kUnavailable);
  const std::size_t before = fixture.server.handler.seen().messages.size();
  peer.data(1, hello);
  REQUIRE(fixture.server.wait_counts(
      [](const TransportCounts& counts) { return counts.old_session > 0; }));
  CHECK(fixture.server.handler.seen().messages.size() == before);
  fixture.check_friend();
}

TEST_CASE("thousands of silent connections do not hinder a connected peer", "[core][net]") {
  rlimit files{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &files) == 0);
  files.rlim_cur = std::min<rlim_t>(files.rlim_max, 8192);
  ::setrlimit(RLIMIT_NOFILE, &files);
  ZmqTransport::Options options = quick();
  options.heartbeat = 100ms;
  options.max_unauthenticated = 32;
  options.backlog = 16;
  ListenerFixture fixture(options);
  const std::size_t before = resident_pages();
  {
    std::vector<BareConnection> unauthenticated;
    unauthenticated.reserve(2000);
    for (int i = 0; i < 2000; ++i) {
      unauthenticated.emplace_back(fixture.address);
      if (i % 200 == 0) fixture.check_friend();
    }
    REQUIRE(fixture.server.wait_counts(
        [](const TransportCounts& counts) { return counts.listener_paused > 0; }));
    fixture.check_friend();
    CHECK(resident_pages() - before < 16 * 256);  // 16 MiB, both sides
  }
  Side late(quick());
  REQUIRE(late.transport.connect(fixture.address));
  late.peer();
  fixture.check_friend();
}

/// A folder of keys, and options that use them.
struct Keys {
  Keys() {
    REQUIRE(CurveKeys::create(folder));
    keys = CurveKeys::read(folder).value();
  }
  ZmqTransport::Options options() const {
    ZmqTransport::Options with = quick();
    with.keys = keys;
    return with;
  }

  TempDir dir;
  std::string folder = dir.path("keys");
  CurveKeys keys;
};

TEST_CASE("with keys, a client whose key is registered gets a session", "[core][net]") {
  Keys keys;
  Side server(keys.options());
  const std::string address = server.transport.listen("0.0.0.0:0").value();
  const std::string port = std::to_string(parse_address(address)->port);
  Side client(keys.options());
  REQUIRE(client.transport.connect("127.0.0.1:" + port));
  REQUIRE(client.tell(client.peer(), "secret", {frame_of(std::string(100'000, 's'))}));
  CHECK(server.handler.wait_messages(1).messages.at(0).head == "secret");
  CHECK(server.handler.seen().up[0].second.key == keys.keys.client->public_key);
  CHECK(client.handler.seen().up[0].second.key == keys.keys.server_public);

  SECTION("and a client is refused after its key is removed, and accepted after its key is added") {
    REQUIRE(CurveKeys::add_client(keys.folder, "node-2"));
    std::filesystem::remove(keys.folder + "/clients/client.key");
    server.transport.close(server.peer(), "come back");
    REQUIRE(
        server.wait_counts([](const TransportCounts& counts) { return counts.refused_keys > 0; }));
    CHECK(client.handler.seen().up.size() == 1);

    ZmqTransport::Options second = keys.options();
    const auto read = [&](const std::string& name) {
      std::string key = keys.dir.read("keys/" + name);
      key.pop_back();
      return key;
    };
    second.keys->client = KeyPair{read("node-2.key"), read("node-2.key_secret")};
    Side other(second);
    REQUIRE(other.transport.connect("127.0.0.1:" + port));
    other.peer();
    CHECK(server.handler.seen().up.size() == 2);
  }
}

TEST_CASE("the sessions of a key end soon after its file is removed, and those of others stay",
          "[core][net]") {
  Keys keys;
  Side server(keys.options());
  const std::string address = server.transport.listen("127.0.0.1:0").value();
  REQUIRE(CurveKeys::add_client(keys.folder, "node-2"));
  const auto read = [&](const std::string& name) {
    std::string key = keys.dir.read("keys/" + name);
    key.pop_back();
    return key;
  };
  ZmqTransport::Options second = keys.options();
  second.keys->client = KeyPair{read("node-2.key"), read("node-2.key_secret")};
  Side revoked(second);
  REQUIRE(revoked.transport.connect(address));
  revoked.peer();
  Side friendly(keys.options());
  REQUIRE(friendly.transport.connect(address));
  friendly.peer();
  // A peer that keeps its connection, and begins one session after the other.
  RawDealer stubborn(address, &*second.keys);
  const auto begin_session = [&](std::uint64_t session) {
    for (std::uint8_t lane = 0; lane < 2; ++lane) {
      stubborn.send(
          header_bytes({.kind = WireHeader::Kind::kHello, .lane = lane, .session = session}));
    }
  };
  begin_session(76);
  server.handler.wait_up(3);

  std::filesystem::remove(keys.folder + "/clients/node-2.key");
  const auto seen = server.handler.wait_down(2);
  REQUIRE(seen.down.size() == 2);
  for (const auto& [peer, reason] : seen.down) CHECK(reason.message == "its key was removed");
  CHECK(revoked.handler.wait_down(1).down.at(0).second.message ==
        "the peer ended the session: its key was removed");
  REQUIRE(
      server.wait_counts([](const TransportCounts& counts) { return counts.refused_keys > 0; }));
  while (stubborn.hears(500ms)) {  // to the end of what its first session was sent
  }
  begin_session(77);
  CHECK_FALSE(stubborn.hears(500ms));
  CHECK(revoked.handler.seen().up.size() == 1);
  CHECK(server.handler.seen().up.size() == 3);
  CHECK(server.handler.seen().down.size() == 2);
  REQUIRE(friendly.tell(friendly.peer(), "still here"));
  CHECK(server.handler.wait_messages(1).messages.back().head == "still here");
}

TEST_CASE("a client without a registered key learns nothing", "[core][net]") {
  Keys keys;
  Side server(keys.options());
  const std::string address = server.transport.listen("127.0.0.1:0").value();
  Side friendly(keys.options());
  REQUIRE(friendly.transport.connect(address));
  friendly.peer();
  server.peer();

  SECTION("a client without keys") {
    Side unauthenticated(quick());
    REQUIRE(unauthenticated.transport.connect(address));
    RawDealer raw(address);
    raw.send(header_bytes({.kind = WireHeader::Kind::kHello, .session = 5}));
    CHECK_FALSE(raw.hears(500ms));
    CHECK(unauthenticated.handler.seen().up.empty());
  }
  SECTION("a client with an unregistered key") {
    ZmqTransport::Options options = keys.options();
    options.keys->client = KeyPair::generate().value();
    Side unauthenticated(options);
    REQUIRE(unauthenticated.transport.connect(address));
    RawDealer raw(address, &*options.keys);
    raw.send(header_bytes({.kind = WireHeader::Kind::kHello, .session = 5}));
    CHECK_FALSE(raw.hears(500ms));
    REQUIRE(
        server.wait_counts([](const TransportCounts& counts) { return counts.refused_keys > 0; }));
    CHECK(unauthenticated.handler.seen().up.empty());
  }
  SECTION("a client that expects another server") {
    ZmqTransport::Options options = keys.options();
    options.keys->server_public = KeyPair::generate()->public_key;
    Side unauthenticated(options);
    REQUIRE(unauthenticated.transport.connect(address));
    RawDealer raw(address, &*options.keys);
    raw.send(header_bytes({.kind = WireHeader::Kind::kHello, .session = 5}));
    CHECK_FALSE(raw.hears(500ms));
    CHECK(unauthenticated.handler.seen().up.empty());
  }
  SECTION("bytes of any kind: no more than ZeroMQ's own greeting comes back") {
    BareConnection unauthenticated(address);
    unauthenticated.say(std::string("\xff\0\0\0\0\0\0\0\1\x7f\3\0NULL", 16) +
                        std::string(200, '\0'));
    CHECK(unauthenticated.hear_to_the_end().size() <= 64);
  }
  CHECK(server.handler.seen().up.size() == 1);
  REQUIRE(friendly.tell(friendly.peer(), "still here"));
  CHECK(server.handler.wait_messages(1).messages.at(0).head == "still here");
}

TEST_CASE("keys are written for their owner alone and read with care", "[core][net]") {
  Keys keys;
  namespace fs = std::filesystem;
  for (const char* name : {"server.key_secret", "client.key_secret"}) {
    const fs::perms mode = fs::status(keys.folder + "/" + name).permissions();
    CHECK(mode == (fs::perms::owner_read | fs::perms::owner_write));
  }
  CHECK(keys.keys.server_secret);
  CHECK_FALSE(CurveKeys::create(keys.folder));
  CHECK_FALSE(CurveKeys::add_client(keys.folder, "../client"));
  SECTION("a secret that others can read") {
    fs::permissions(keys.folder + "/client.key_secret", fs::perms::group_read,
                    fs::perm_options::add);
    const auto refused = CurveKeys::read(keys.folder);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.find("chmod 600") != std::string::npos);
  }
  SECTION("a file that is no key") {
    keys.dir.write("keys/server.key", std::string(1'000'000, 'k'));
    CHECK(CurveKeys::read(keys.folder).error().code == Code::kInvalid);
  }
  SECTION("a node that only connects has no server's secret") {
    fs::remove(keys.folder + "/server.key_secret");
    keys.keys = CurveKeys::read(keys.folder).value();
    Side side(keys.options());
    const auto refused = side.transport.listen("127.0.0.1:0");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.find("server.key_secret") != std::string::npos);
  }
}

}  // namespace
}  // namespace forebay
