#include <chrono>
#include <memory>
#include <string>

#include "core/data/buffer_pool.h"
#include "tests/core/net/transport_side.h"
#include "tests/support/wait_until.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;
using namespace test;

TEST_CASE("two transports begin a session and exchange messages both ways", "[core][net]") {
  Side server;
  Side client;
  const std::string address = server.transport.listen("127.0.0.1:0").value();
  REQUIRE(client.transport.connect(address));
  const PeerId to_server = client.peer();
  const PeerId to_client = server.peer();
  CHECK(client.handler.seen().up[0].second.address == address);
  CHECK(server.handler.seen().up[0].second.host == "127.0.0.1");
  REQUIRE(client.tell(to_server, "hello"));
  REQUIRE(server.tell(to_client, "hello yourself"));
  CHECK(server.handler.wait_messages(1).messages.at(0).head == "hello");
  CHECK(client.handler.wait_messages(1).messages.at(0).head == "hello yourself");
}

TEST_CASE("an address may be a name of this machine or of IPv6", "[core][net]") {
  Side server;
  Side client;
  SECTION("localhost") {
    const std::string address = server.transport.listen("localhost:0").value();
    REQUIRE(client.transport.connect("localhost:" + std::to_string(parse_address(address)->port)));
    client.peer();
  }
  SECTION("IPv6, where there is one") {
    const auto address = server.transport.listen("[::1]:0");
    if (!address) return;
    REQUIRE(client.transport.connect(*address));
    client.peer();
  }
  SECTION("an address in use is refused") {
    const std::string address = server.transport.listen("127.0.0.1:0").value();
    const auto refused = client.transport.listen(address);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == Code::kUnavailable);
  }
}

TEST_CASE("messages of a lane arrive whole and in their order", "[core][net]") {
  Side server;
  Side client;
  REQUIRE(client.transport.connect(server.transport.listen("127.0.0.1:0").value()));
  const PeerId to_server = client.peer();
  for (int i = 0; i < 20'000; ++i) REQUIRE(client.tell(to_server, std::to_string(i)));
  const auto messages = server.handler.wait_messages(20'000).messages;
  REQUIRE(messages.size() == 20'000);
  for (std::size_t i = 0; i < messages.size(); ++i) REQUIRE(messages[i].head == std::to_string(i));
}

TEST_CASE("frames travel beside their message, large and small and empty", "[core][net]") {
  MemoryBudget budget(1u << 30);
  ZmqTransport::Options options;
  options.received = &budget;
  Side server(options);
  Side client;
  REQUIRE(client.transport.connect(server.transport.listen("127.0.0.1:0").value()));
  const std::string large(3'000'000, 'x');
  REQUIRE(client.tell(client.peer(), "two", {frame_of(large), frame_of(""), frame_of("small")}));
  {
    const auto seen = server.handler.wait_messages(1);
    REQUIRE(seen.messages.size() == 1);
    CHECK(seen.messages[0].head == "two");
    REQUIRE(seen.messages[0].body.size() == 3);
    CHECK(text_of({seen.messages[0].body[0].data(), seen.messages[0].body[0].size()}) == large);
    CHECK(seen.messages[0].body[1].size() == 0);
    CHECK(text_of({seen.messages[0].body[2].data(), 5}) == "small");
    CHECK(budget.used() == 3'000'005);
  }
  server.handler.forget_messages();
  CHECK(budget.used() == 0);
}

TEST_CASE("a frame sent without a copy is released after it is sent", "[core][net]") {
  Side server;
  Side client;
  REQUIRE(client.transport.connect(server.transport.listen("127.0.0.1:0").value()));
  Frame frame = frame_of(std::string(100'000, 'y'));
  const std::weak_ptr<const void> kept = frame.keeper();
  const PeerId peer = client.peer();
  Status sent;
  {
    Frames body;
    body.push_back(std::move(frame));
    sent = client.tell(peer, "one", std::move(body));
  }
  REQUIRE(sent);
  CHECK(server.handler.wait_messages(1).messages.size() == 1);
  client.transport.stop();
  test::wait_until([&] { return kept.expired(); });  // ZeroMQ's own thread releases it.
}

TEST_CASE("a session that is closed ends on both sides, after the messages sent before",
          "[core][net]") {
  Side server(quick());
  Side client(quick());
  const std::string address = server.transport.listen("127.0.0.1:0").value();
  REQUIRE(client.transport.connect(address));
  const PeerId to_client = server.peer();
  const PeerId to_server = client.peer();
  REQUIRE(server.tell(to_client, "last words"));
  server.transport.close(to_client, "the job is over");
  const auto seen = client.handler.wait_down(1);
  REQUIRE(seen.down.size() == 1);
  CHECK(seen.down[0].second.code == Code::kUnavailable);
  CHECK(seen.down[0].second.message.find("the job is over") != std::string::npos);
  REQUIRE(seen.messages.size() == 1);
  CHECK(client.tell(to_server, "too late").error().code == Code::kUnavailable);
  CHECK(server.handler.wait_down(1).down.size() == 1);

  SECTION("another session begins, with another name") {
    CHECK(client.peer(2) != to_server);
    CHECK(server.peer(2) != to_client);
  }
  SECTION("a client that disconnects does not reconnect") {
    client.peer(2);
    client.transport.disconnect(address);
    CHECK(client.handler.wait_down(2).down.size() == 2);
    CHECK(server.handler.wait_down(2).down.size() == 2);
  }
}

TEST_CASE("a client retries until a server listens, and reconnects when another takes its place",
          "[core][net]") {
  std::string address;
  {
    Side gone;
    address = gone.transport.listen("127.0.0.1:0").value();
  }
  Side client(quick());
  REQUIRE(client.transport.connect(address));
  {
    Side first(quick());
    REQUIRE(first.transport.listen(address));
    REQUIRE(client.tell(client.peer(1), "to the first"));
    CHECK(first.handler.wait_messages(1).messages.size() == 1);
  }
  CHECK(client.handler.wait_down(1).down.size() == 1);
  Side second(quick());
  REQUIRE(second.transport.listen(address));
  REQUIRE(client.tell(client.peer(2), "to the second"));
  CHECK(second.handler.wait_messages(1).messages.at(0).head == "to the second");
}

TEST_CASE("what sends to one session refuses when it is over", "[core][net]") {
  Side server;
  Side client;
  REQUIRE(client.transport.connect(server.transport.listen("127.0.0.1:0").value()));
  const auto sender = client.transport.sender(client.peer());
  REQUIRE(sender->send(Lane::kControl, bytes_of_text("one"), {}));
  REQUIRE(sender->send(Lane::kBulk, bytes_of_text("two"), {frame_of("frame")}));
  CHECK(server.handler.wait_messages(2).messages.size() == 2);
  server.transport.close(server.peer(), "enough");
  client.handler.wait_down(1);
  CHECK(sender->send(Lane::kControl, bytes_of_text("late"), {}).error().code == Code::kUnavailable);
  const auto late = client.transport.sender(client.peer());
  CHECK(late->send(Lane::kControl, bytes_of_text("late"), {}).error().code == Code::kUnavailable);
}

TEST_CASE("a full lane refuses messages, and an empty one takes any size", "[core][net]") {
  ZmqTransport::Options options;
  options.outbox.waiting_bytes = {1000, 1000};
  options.queued_messages = 1;
  Side server;
  Side client(options);
  REQUIRE(client.transport.connect(server.transport.listen("127.0.0.1:0").value()));
  const PeerId peer = client.peer();
  REQUIRE(client.tell(peer, std::string(5000, 'z')));
  Status status;
  for (int i = 0; i < 1'000'000 && status; ++i) status = client.tell(peer, std::string(900, 'z'));
  REQUIRE_FALSE(status);
  CHECK(status.error().code == Code::kOverloaded);
}

TEST_CASE("a frame larger than peers accept is refused before it is sent", "[core][net]") {
  ZmqTransport::Options options;
  options.max_frame_bytes = 10'000;
  Side server(options);
  Side client(options);
  REQUIRE(client.transport.connect(server.transport.listen("127.0.0.1:0").value()));
  const PeerId peer = client.peer();
  CHECK(client.tell(peer, std::string(10'000, 'z')).error().code == Code::kInvalid);
  CHECK(client.tell(peer, "a", {frame_of(std::string(10'001, 'z'))}).error().code ==
        Code::kInvalid);
  CHECK(client.tell(peer, "a", {frame_of(std::string(10'000, 'z'))}));
  CHECK(server.handler.wait_messages(1).messages.size() == 1);
}

TEST_CASE("the peer with the shorter timeout sets the heartbeat interval of both", "[core][net]") {
  ZmqTransport::Options slow = quick();
  slow.heartbeat = std::chrono::hours(1);
  const auto hears = [](const TransportCounts& counts) { return counts.beats >= 3; };
  SECTION("a slow server") {
    Side server(slow);
    Side client(quick());
    REQUIRE(client.transport.connect(server.transport.listen("127.0.0.1:0").value()));
    CHECK(client.wait_counts(hears));
  }
  SECTION("a slow client") {
    Side server(quick());
    Side client(slow);
    REQUIRE(client.transport.connect(server.transport.listen("127.0.0.1:0").value()));
    CHECK(server.wait_counts(hears));
  }
}

TEST_CASE("a peer beyond the maximum number of sessions waits until another one ends",
          "[core][net]") {
  ZmqTransport::Options options = quick();
  options.max_sessions = 1;
  Side server(options);
  const std::string address = server.transport.listen("127.0.0.1:0").value();
  Side first(quick());
  REQUIRE(first.transport.connect(address));
  first.peer();
  Side second(quick());
  REQUIRE(second.transport.connect(address));
  REQUIRE(server.wait_counts(
      [](const TransportCounts& counts) { return counts.refused_sessions > 0; }));
  CHECK(second.handler.seen().up.empty());
  first.transport.stop();
  CHECK(second.handler.wait_up(1).up.size() == 1);
}

}  // namespace
}  // namespace forebay
