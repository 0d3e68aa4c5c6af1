#include "engine/energy/rapl.h"

#include <sys/fsuid.h>
#include <unistd.h>

#include <filesystem>

#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

/// A tree as the kernel's /sys/class/powercap, of which tests write the counters.
struct PowercapTree {
  test::TempDir dir;

  void zone(const std::string& folder, const std::string& name, std::uint64_t microjoules,
            std::uint64_t range) const {
    static_cast<void>(dir.write(folder + "/name", name + "\n"));
    static_cast<void>(dir.write(folder + "/max_energy_range_uj", std::to_string(range) + "\n"));
    counts(folder, microjoules);
  }
  void counts(const std::string& folder, std::uint64_t microjoules) const {
    static_cast<void>(dir.write(folder + "/energy_uj", std::to_string(microjoules) + "\n"));
  }
  std::string path(const std::string& folder) const { return dir.path(folder + "/energy_uj"); }
};

/// Two sockets with memory, and all that must not be counted beside them.
struct TwoSockets : PowercapTree {
  TwoSockets() {
    zone("intel-rapl:0", "package-0", 1'000'000, 262'143'328'850);
    zone("intel-rapl:0/intel-rapl:0:0", "core", 77, 262'143'328'850);
    zone("intel-rapl:0/intel-rapl:0:1", "dram", 5'000, 65'712'999'613);
    zone("intel-rapl:1", "package-1", 2'000'000, 262'143'328'850);
    zone("intel-rapl:1/intel-rapl:1:0", "dram", 6'000, 65'712'999'613);
    zone("intel-rapl:2", "psys", 9'000'000, 262'143'328'850);
    zone("intel-rapl:0:1", "dram", 5'000, 65'712'999'613);               // the kernel's flat view
    zone("intel-rapl-mmio:0", "package-0", 1'000'000, 262'143'328'850);  // the same socket again
  }
};

TEST_CASE("every socket counts once, with its memory, and nothing that is inside of it",
          "[engine][energy]") {
  const TwoSockets tree;
  auto zones = rapl_zones(tree.dir.path());
  REQUIRE(zones);
  REQUIRE(zones->size() == 4);
  CHECK((*zones)[0] == RaplZone{"package-0", tree.path("intel-rapl:0"), 262'143'328'850});
  CHECK((*zones)[1] == RaplZone{"dram", tree.path("intel-rapl:0/intel-rapl:0:1"), 65'712'999'613});
  CHECK((*zones)[2].path == tree.path("intel-rapl:1"));
  CHECK((*zones)[3].path == tree.path("intel-rapl:1/intel-rapl:1:0"));
}

TEST_CASE("the joules of two sockets add up from the moment of opening", "[engine][energy]") {
  const TwoSockets tree;
  auto counters = RaplCounters::open(tree.dir.path());
  REQUIRE(counters);
  REQUIRE(counters->look());
  CHECK(counters->joules() == 0);
  tree.counts("intel-rapl:0", 3'500'000);                 // 2.5 J
  tree.counts("intel-rapl:0/intel-rapl:0:1", 505'000);    // 0.5 J
  tree.counts("intel-rapl:1", 6'000'000);                 // 4 J
  tree.counts("intel-rapl:1/intel-rapl:1:0", 1'006'000);  // 1 J
  tree.counts("intel-rapl:2", 99'000'000);                // psys counts the same again
  REQUIRE(counters->look());
  CHECK(counters->joules() == 8.0);
}

TEST_CASE("a counter that wraps around loses nothing", "[engine][energy]") {
  CHECK(microjoules_between(100, 160, 1000) == 60);
  CHECK(microjoules_between(900, 50, 1000) == 150);  // 100 to the range, then 50
  CHECK(microjoules_between(7, 7, 1000) == 0);

  const PowercapTree tree;
  tree.zone("intel-rapl:0", "package-0", 900'000, 1'000'000);
  auto counters = RaplCounters::open(tree.dir.path());
  REQUIRE(counters);
  for (const std::uint64_t at : {200'000, 950'000, 150'000}) {  // 0.3 + 0.75 + 0.2 J
    tree.counts("intel-rapl:0", at);
    REQUIRE(counters->look());
  }
  CHECK(counters->joules() == 1.25);
}

TEST_CASE("a machine without counters says so", "[engine][energy]") {
  const test::TempDir empty;
  CHECK(RaplCounters::open(empty.path()).error().code == Code::kNotFound);
  CHECK(RaplCounters::open(empty.path("none")).error().code == Code::kNotFound);
  static_cast<void>(empty.write("intel-rapl/enabled", "1"));  // the driver without a zone
  CHECK(rapl_zones(empty.path()).error().code == Code::kNotFound);
}

TEST_CASE("a counter that only root may read is refused by name", "[engine][energy]") {
  const TwoSockets tree;
  // Whatever the umask is, others may read all but that counter.
  fs::permissions(tree.dir.path(), fs::perms(0755));
  for (const auto& entry : fs::recursive_directory_iterator(tree.dir.path())) {
    fs::permissions(entry.path(), fs::perms(entry.is_directory() ? 0755 : 0644));
  }
  fs::permissions(tree.path("intel-rapl:1"), fs::perms::owner_read);
  if (::geteuid() == 0) {
    ::setfsuid(65534);  // nobody, for this thread's files alone
  } else {
    fs::permissions(tree.path("intel-rapl:1"), fs::perms::none);
  }
  auto counters = RaplCounters::open(tree.dir.path());
  ::setfsuid(::geteuid());
  REQUIRE_FALSE(counters);
  CHECK(counters.error().code == Code::kUnavailable);
  CHECK(counters.error().message.starts_with(tree.path("intel-rapl:1")));
}

TEST_CASE("a counter that disappears in the middle leaves an error for good", "[engine][energy]") {
  const TwoSockets tree;
  auto counters = RaplCounters::open(tree.dir.path());
  REQUIRE(counters);
  fs::remove(tree.path("intel-rapl:1"));
  CHECK_FALSE(counters->look());
  tree.counts("intel-rapl:1", 9'000'000);
  CHECK_FALSE(counters->look());
}

TEST_CASE("a counter that holds no number is damaged", "[engine][energy]") {
  const PowercapTree tree;
  tree.zone("intel-rapl:0", "package-0", 1, 1'000'000);
  static_cast<void>(tree.dir.write("intel-rapl:0/energy_uj", "none\n"));
  CHECK(RaplCounters::open(tree.dir.path()).error().code == Code::kCorrupt);
}

}  // namespace
}  // namespace forebay
