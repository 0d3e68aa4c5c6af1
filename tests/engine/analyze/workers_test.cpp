#include "engine/analyze/workers.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using scheduler::NodeStatus;

NodeStatus node(const std::string& name, double rate, double could_make) {
  NodeStatus node;
  node.name = name;
  node.state = NodeStatus::State::kPrepared;
  node.rate = rate;
  node.could_make = could_make;
  return node;
}

constexpr std::uint64_t kMib = std::uint64_t{1} << 20;

JobSpec small_job() {
  JobSpec job;
  job.run.dir = "it's/.forebay";
  job.pipeline.cpus = 2;
  job.pipeline.memory_bytes = 600 * kMib;
  return job;
}

TEST_CASE("workers that may make splits count, with what they could make", "[engine][analyze]") {
  scheduler::ClusterStatus cluster;
  cluster.nodes = {node("local", 9, 9), node("a", 10, 30), node("b", 50, 0), node("c", 0, 0),
                   node("refused", 70, 70)};
  cluster.nodes.back().state = NodeStatus::State::kRefused;
  const Workers workers = workers_in(cluster, "local");
  CHECK(workers.count == 3);
  CHECK(workers.splits_per_second == 40);  // of 30 and 50; what c makes is not known
  CHECK(workers_in({}, "local").count == 0);
  CHECK(workers_in({}, "local").splits_per_second == 0);
}

TEST_CASE("workers are started on CPUs of their own, behind those of the job",
          "[engine][analyze]") {
  const LocalMachine machine{
      .cpus = {0, 1, 4, 5, 6, 7}, .memory = 2000 * kMib, .program = "/bin/forebay"};
  const std::string two = local_workers_command(small_job(), 2, machine);
  CHECK(two.starts_with("sh -c 'taskset -c 4,5 "));
  CHECK(two.find("taskset -c 6,7 ") != std::string::npos);
  CHECK(two.find(" --cpus 2 --memory " + std::to_string(500 * kMib) + " ") != std::string::npos);
  CHECK(local_workers_address(small_job()) == "it's/.forebay/analyze/address");
}

TEST_CASE("no workers are started without CPUs, memory or a program for them",
          "[engine][analyze]") {
  const LocalMachine machine{.cpus = {0, 1, 2, 3}, .memory = 512 * kMib, .program = "/bin/forebay"};
  CHECK_FALSE(local_workers_command(small_job(), 1, machine).empty());
  CHECK(local_workers_command(small_job(), 2, machine).empty());
  CHECK(local_workers_command(small_job(), 1, {machine.cpus, 511 * kMib, machine.program}).empty());
  CHECK(local_workers_command(small_job(), 1, {machine.cpus, 512 * kMib, ""}).empty());
  JobSpec tiny = small_job();
  tiny.pipeline.memory_bytes = 100 * kMib;
  CHECK_FALSE(local_workers_command(tiny, 1, {machine.cpus, 200 * kMib, "/bin/forebay"}).empty());
}

}  // namespace
}  // namespace forebay
