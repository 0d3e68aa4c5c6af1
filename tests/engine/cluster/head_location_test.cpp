#include "engine/cluster/head_location.h"

#include <fstream>

#include "core/store/store.h"
#include "engine/cluster/head_node.h"
#include "engine/job/text_file.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait_until.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using HeadStatus = ActorRef<scheduler::QueryCluster>;

std::unique_ptr<NetworkEndpoint> net_end(const Clock& clock) {
  return std::move(
      NetworkEndpoint::make({.keys = "", .received = nullptr, .say = {}}, clock).value());
}

/// An idle head on a port of its own.
struct IdleHead {
  SystemClock clock;
  MemoryStore store;
  std::unique_ptr<NetworkEndpoint> net = net_end(clock);
  std::string address = net->listen("127.0.0.1:0").value();

  IdleHead() { REQUIRE(start_head(*net, store, {})); }
  ~IdleHead() { net.reset(); }
};

TEST_CASE("text with a slash and without a scheme is the path of a file", "[tools][cluster]") {
  CHECK(names_a_file("./head"));
  CHECK(names_a_file("/var/run/head"));
  CHECK_FALSE(names_a_file("tcp://10.0.0.1:7"));
  CHECK_FALSE(names_a_file("[::1]:7"));
  CHECK_FALSE(names_a_file("host"));
  CHECK_FALSE(names_a_file("http://host:7"));
}

TEST_CASE("a head that comes back at another port is found by the file that names it",
          "[tools][cluster]") {
  const test::TempDir folder;
  const std::string file = folder.path() + "/address";
  const SystemClock clock;
  const auto net = net_end(clock);
  std::vector<std::string> said;
  HeadLocation place(file, *net, [&](const std::string& line) { said.push_back(line); });
  REQUIRE(place.open());
  CHECK(place.address().empty());
  std::ofstream(file) << "";  // A file as a shell's > creates it, before anything is written.
  REQUIRE(place.open());
  const auto found = [&] {
    place.look();
    return place.actor<HeadStatus>(kStatusName).receiver() != nullptr;
  };

  auto head = std::make_unique<IdleHead>();
  std::ofstream(file) << "tcp://" << head->address << "\n";
  test::wait_until(found);
  const std::string first = head->address;

  SECTION("elsewhere") {
    const IdleHead next;
    std::ofstream(file) << next.address << "\n";
    place.look();
    CHECK(place.address() == head->address);  // While it answers, it stays the head.
    head.reset();
    test::wait_until([&] { return found() && place.address() == next.address; });
    CHECK(said.back() == "the head has moved from " + first + " to " + next.address);
  }
  SECTION("text that is not an address") {
    head.reset();
    std::ofstream(file) << "somewhere\n";
    const std::size_t before = said.size();
    test::wait_until([&] {
      place.look();
      return said.size() == before + 1;
    });
    CHECK(said.back().starts_with(file + ": address somewhere: wants HOST:PORT"));
  }
}

TEST_CASE("a file that names no address is refused", "[tools][cluster]") {
  const test::TempDir folder;
  const SystemClock clock;
  const auto net = net_end(clock);
  folder.write("address", "10.0.0.1:7\n");
  CHECK_FALSE(HeadLocation("tcp://", *net, {}).open());
  HeadLocation beyond_loopback(folder.path() + "/address", *net, {});
  CHECK(beyond_loopback.open().error().message.find("no keys are given") != std::string::npos);
}

}  // namespace
}  // namespace forebay
