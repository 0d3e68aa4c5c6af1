#include "engine/process/machine.h"

#include "tests/support/catch.h"

namespace forebay {

TEST_CASE("a proc table gives the bytes behind a whole key", "[tools][machine]") {
  const char* table = "MemTotal:  10 kB\nXMemFree:  3 kB\nMemFree:   7 kB\n";
  CHECK(proc_bytes(table, "MemFree") == 7 * 1024U);
  CHECK_FALSE(proc_bytes(table, "Mem"));
}

TEST_CASE("a cgroup's quota is rounded up to CPUs", "[tools][machine]") {
  CHECK(quota_cpus("250000 100000") == 3);
  CHECK(quota_cpus("50000 100000") == 1);
  CHECK_FALSE(quota_cpus("max 100000"));
  CHECK_FALSE(quota_cpus("-1 100000"));
}

TEST_CASE("this machine has a CPU and memory", "[tools][machine]") {
  CHECK(available_cpus() >= 1);
  CHECK(available_memory() > 0);
}

}  // namespace forebay
