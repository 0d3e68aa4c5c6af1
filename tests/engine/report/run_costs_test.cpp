#include "engine/report/run_costs.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using Method = EnergyUse::Method;

TEST_CASE("CPUs, bytes and requests have a price each", "[engine][run]") {
  const RunMoney money =
      money_of({.seconds = 1800, .cpus = 4, .bytes = 3'000'000'000, .requests = 1000},
               {.cpu_hour = 0.05, .gigabyte = 0.02, .request = 0.0004});
  CHECK(money.cpus == Approx(0.1));      // 4 CPUs × half an hour × 0.05
  CHECK(money.bytes == Approx(0.06));    // 3 GB × 0.02
  CHECK(money.requests == Approx(0.4));  // 1,000 × 0.0004
  CHECK(describe_money(money, 2'000'000) ==
        "money: 0.28 per million rows, 0.56 in all: CPUs 0.1, bytes 0.06, requests 0.4");
  CHECK(to_json(money, 2'000'000).text().find("\"per_million_rows\":0.28") != std::string::npos);
}

TEST_CASE("a job without prices has none", "[engine][run]") {
  CHECK_FALSE(PriceSpec().any());
  CHECK(PriceSpec{.request = 1}.any());
  CHECK(money_of({.seconds = 10, .cpus = 4, .bytes = 1, .requests = 1}, {}).total() == 0);
}

TEST_CASE("the summary says how the energy is known", "[engine][run]") {
  CHECK(describe_energy({.cpu_joules = 50, .cpu_method = Method::kEstimate}, 4'000'000) ==
        "energy: 12.5 J per million rows (estimated: 10 W for a busy CPU), 50 J in all");
  CHECK(describe_energy({.cpu_joules = 5000, .cpu_method = Method::kRapl}, 1'000'000) ==
        "energy: 5000 J per million rows (RAPL: all of this machine's sockets), 5000 J in all");
  CHECK(describe_energy({.cpu_joules = 5, .cpu_method = Method::kRapl, .gpu_joules = 7}, 1'000'000)
            .find("; GPUs by NVML), 12 J in all") != std::string::npos);
  CHECK(describe_energy({.cpu_joules = 50,
                         .cpu_method = Method::kRapl,
                         .worker_joules = 30,
                         .worker_method = Method::kEstimate},
                        1'000'000) ==
        "energy: 80 J per million rows (RAPL: all of this machine's sockets; of it workers 30 J, "
        "estimated: 10 W for a busy CPU), 80 J in all");
  CHECK(describe_energy({.cpu_joules = 1, .worker_joules = 2, .worker_method = Method::kRapl}, 1)
            .find("workers 2 J, RAPL: their machines' sockets") != std::string::npos);
  CHECK(describe_energy({}, 1'000'000).empty());
  CHECK(describe_energy({.cpu_joules = 50, .cpu_method = Method::kRapl}, 0).empty());
}

TEST_CASE("the JSON has the workers' part, with its own method", "[engine][run]") {
  CHECK(to_json(EnergyUse{.cpu_joules = 50,
                          .cpu_method = Method::kRapl,
                          .worker_joules = 30,
                          .worker_method = Method::kEstimate})
            .text() == R"({"joules":80.0,"method":"estimate","cpu_joules":50.0,)"
                       R"("cpu_method":"rapl","worker_joules":30.0,"worker_method":"estimate"})");
}

TEST_CASE("the JSON names the method, and the parts of a machine with GPUs", "[engine][run]") {
  CHECK(to_json(EnergyUse{.cpu_joules = 50, .cpu_method = Method::kRapl}).text() ==
        R"({"joules":50.0,"method":"rapl"})");
  CHECK(to_json(EnergyUse{}).text() == R"({"joules":0.0,"method":"none"})");
  CHECK(
      to_json(EnergyUse{.cpu_joules = 2, .cpu_method = Method::kEstimate, .gpu_joules = 3})
          .text() ==
      R"({"joules":5.0,"method":"nvml","cpu_joules":2.0,"cpu_method":"estimate","gpu_joules":3.0})");
}

}  // namespace
}  // namespace forebay
