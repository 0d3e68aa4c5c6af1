#include "engine/run/control_server.h"

#include <sys/stat.h>

#include <filesystem>

#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

Result<std::string> only_cpus(const std::string& key, const std::string& value) {
  if (key != "pipeline.cpus") return fail(Code::kInvalid, key + " cannot be changed");
  return key + " is " + value;
}

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
    auto socket = make_socket(5);
    REQUIRE(socket);
    REQUIRE(connect_control(socket->number(), folder->number()));
    send_line(socket->number(), line);
    const auto answer = receive_line(socket->number(), 100);
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

}  // namespace forebay
