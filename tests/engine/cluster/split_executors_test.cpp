#include "engine/cluster/split_executors.h"

#include <cstdint>
#include <thread>

#include "tests/support/catch.h"

namespace forebay {
namespace {

TEST_CASE("an executor may be stopped while the worker actor opens jobs", "[engine][cluster]") {
  for (int round = 0; round < 100; ++round) {
    StageSplitExecutor executor({.place = {}, .on_stages = [](NodeStages*, WorkerJob*) {}});
    std::thread worker([&executor] {
      for (std::uint64_t opening = 1; opening <= 5; ++opening) executor.open({}, opening);
    });
    executor.stop();
    worker.join();
    CHECK(executor.slots() == 0);
  }
}

}  // namespace
}  // namespace forebay
