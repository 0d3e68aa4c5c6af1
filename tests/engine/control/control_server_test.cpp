#include "engine/control/control_server.h"

#include <sys/socket.h>
#include <sys/stat.h>

#include <array>
#include <chrono>
#include <filesystem>

#include "engine/control/control_client.h"
#include "engine/control/control_socket.h"
#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

Result<std::string> only_cpus(const std::string& key, const std::string& value) {
  if (key != "pipeline.cpus") return fail(Code::kInvalid, key + " cannot be changed");
  return key + " is " + value;
}

constexpr std::chrono::seconds kPatience(30);

}  // namespace

TEST_CASE("a question reaches the job of its folder, and the answer comes back",
          "[tools][control]") {
  const test::TempDir dir;
  const auto server = ControlServer::open(dir.path(), only_cpus, {});
  REQUIRE(server);
  const auto done = ask_to_set(dir.path(), "pipeline.cpus", "3");
  REQUIRE(done);
  CHECK(*done == "pipeline.cpus is 3");
  const auto refused = ask_to_set(dir.path(), "order.seed", "3");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Code::kInvalid);
  CHECK(refused.error().message == "order.seed cannot be changed");
}

TEST_CASE("only the owner reaches the socket, which is gone at the end", "[tools][control]") {
  const test::TempDir dir;
  {
    const auto server = ControlServer::open(dir.path(), only_cpus, {});
    REQUIRE(server);
    struct stat info {};
    REQUIRE(::stat(dir.path("control").c_str(), &info) == 0);
    CHECK((info.st_mode & 0777U) == 0600U);
  }
  CHECK_FALSE(std::filesystem::exists(dir.path("control")));
  const auto nobody = ask_to_set(dir.path(), "pipeline.cpus", "3");
  REQUIRE_FALSE(nobody);
  CHECK(nobody.error().code == Code::kNotFound);
}

TEST_CASE("the socket of a killed run is replaced", "[tools][control]") {
  const test::TempDir dir;
  dir.write("control", "stale");
  const auto server = ControlServer::open(dir.path(), only_cpus, {});
  REQUIRE(server);
  CHECK(ask_to_set(dir.path(), "pipeline.cpus", "3"));
}

TEST_CASE("a folder with a long path is reached too", "[tools][control]") {
  const test::TempDir dir;
  const std::string folder = dir.path(std::string(200, 'x'));
  std::filesystem::create_directory(folder);
  const auto server = ControlServer::open(folder, only_cpus, {});
  REQUIRE(server);
  CHECK(ask_to_set(folder, "pipeline.cpus", "3"));
}

TEST_CASE("callers that send invalid or too many bytes do no harm", "[tools][control]") {
  const test::TempDir dir;
  const auto server = ControlServer::open(dir.path(), only_cpus, {});
  REQUIRE(server);
  for (const std::string& line : {std::string("hello"), std::string("[1]"), std::string("{}"),
                                  std::string("{\"set\":3}"), std::string(5000, 'x')}) {
    auto folder = open_folder(dir.path());
    REQUIRE(folder);
    auto socket = make_socket();
    REQUIRE(socket);
    REQUIRE(connect_control(socket->number(), folder->number(), kPatience));
    send_line(socket->number(), line, kPatience);
    const auto answer = receive_line(socket->number(), 100, kPatience);
    if (line.size() < 5000) {
      REQUIRE(answer);
      CHECK(*answer == "{\"error\":\"not understood\"}");
    }
  }
  CHECK(ask_to_set(dir.path(), "pipeline.cpus", "3"));
  const auto long_one = ask_to_set(dir.path(), "pipeline.cpus", std::string(5000, '3'));
  REQUIRE_FALSE(long_one);
  CHECK(long_one.error().message == "pipeline.cpus: the value is too long");
}

TEST_CASE("a client that sends a byte now and then is disconnected after a second",
          "[tools][control]") {
  const test::TempDir dir;
  const auto server = ControlServer::open(dir.path(), only_cpus, {});
  REQUIRE(server);
  const auto folder = open_folder(dir.path());
  const auto socket = make_socket();
  REQUIRE(connect_control(socket->number(), folder->number(), kPatience));
  // Until the server hangs up: each byte comes before a timeout of its own would end.
  while (::send(socket->number(), "x", 1, MSG_NOSIGNAL) == 1) {
    CHECK_FALSE(receive_line(socket->number(), 100, std::chrono::milliseconds(100)));
  }
  CHECK(ask_to_set(dir.path(), "pipeline.cpus", "3"));
}

TEST_CASE("a client that does not read the answer is disconnected", "[tools][control]") {
  const test::TempDir dir;
  const std::string large(std::size_t{3} << 20, 'x');
  const auto server = ControlServer::open(
      dir.path(), only_cpus, {.status = [&large] { return std::string(large); }, .trace = {}});
  REQUIRE(server);
  const auto folder = open_folder(dir.path());
  const auto lazy = make_socket();
  REQUIRE(connect_control(lazy->number(), folder->number(), kPatience));
  REQUIRE(send_line(lazy->number(), "{\"look\":true}", kPatience));
  CHECK(ask_to_look(dir.path()) == large);
}

TEST_CASE("a line may have as many bytes as allowed, and no more", "[tools][control]") {
  std::array<int, 2> ends{};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
  const Descriptor one(ends[0]);
  const Descriptor other(ends[1]);
  for (const std::size_t bytes : {0, 1, 99, 100}) {
    REQUIRE(send_line(one.number(), std::string(bytes, 'x'), kPatience));
    CHECK(receive_line(other.number(), 100, kPatience) == std::string(bytes, 'x'));
  }
  REQUIRE(send_line(one.number(), std::string(101, 'x'), kPatience));
  const auto long_one = receive_line(other.number(), 100, kPatience);
  REQUIRE_FALSE(long_one);
  CHECK(long_one.error().code == Code::kCorrupt);
}

}  // namespace forebay
