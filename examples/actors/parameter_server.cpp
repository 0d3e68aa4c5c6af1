// Runs steps of a model whose parameters are on the cluster's nodes, exactly, whatever nodes die.
#include <poll.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "shard.h"

using namespace std::chrono_literals;

namespace {
struct Part {
  std::string number;
  Shard::Ref actor;
  std::string node;
  std::vector<double> values;
};

void print(const char* event, const Part& part) {
  std::printf("{\"event\":\"%s\",\"shard\":%s,\"node\":\"%s\"}\n", event, part.number.c_str(),
              part.node.c_str());
  std::fflush(stdout);
}

// Sends what a shard lacks up to `step`: it may have gone on from the state that it kept last.
fa::Result<ShardState> catch_up(const Part& part, std::uint64_t step) {
  auto now = part.actor.ask(Pull{}, 5s).wait();
  if (!now) return now.error();
  const std::vector<double> ones(part.values.size(), 1.0);
  while (now->steps < step) {
    if (auto done = part.actor.ask(Push{++now->steps, ones}, 5s).wait(); !done) return done.error();
  }
  return part.actor.ask(Pull{}, 5s).wait();
}

// One step of a shard; again and again while its node is gone.
fa::Result<ShardState> run_step(fa::Cluster& cluster, Part& part, std::uint64_t step) {
  auto state = catch_up(part, step);
  if (state) return state;
  print("down", part);
  for (int tries = 0; tries < 1200 && !state; ++tries) {
    ::poll(nullptr, 0, 50);  // for a minute in all
    state = catch_up(part, step);
  }
  if (const auto at = cluster.place("shard-" + part.number).wait()) part.node = at->node;
  if (state) print("restarted", part);
  return state;
}

fa::Result<double> run(fa::Cluster& cluster, std::vector<Part>& parts, std::uint64_t steps) {
  for (Part& part : parts) {
    const fa::ClusterSpawn spawn{.type = "shard", .name = "shard-" + part.number, .restarts = 1000};
    auto actor = cluster.spawn<Shard>(spawn, std::uint64_t{part.values.size()}).wait();
    if (!actor) return actor.error();
    part.actor = *actor;
    if (const auto at = cluster.place(spawn.name).wait()) part.node = at->node;
    print("placed", part);
  }
  double sum = 0;
  for (std::uint64_t step = 1; step <= steps; ++step) {
    for (Part& part : parts) {
      auto state = run_step(cluster, part, step);
      if (!state) return state.error();
      part.values = std::move(state->values);
    }
  }
  for (const Part& part : parts) {
    part.actor.stop();
    for (const double value : part.values) sum += value;
  }
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  std::map<std::string, std::string> given;
  for (int i = 1; i + 1 < argc; i += 2) given[argv[i]] = argv[i + 1];
  const auto number = [&](const char* name) { return std::strtoull(given[name].c_str(), {}, 10); };
  std::vector<Part> parts(number("--shards"));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    parts[i].number = std::to_string(i);
    parts[i].values.resize(number("--dim"));
  }
  auto cluster = fa::Cluster::join({.head = given["--join"], .keys = given["--keys"]});
  const auto sum = cluster ? run(*cluster, parts, number("--steps")) : cluster.error();
  if (sum) std::printf("{\"event\":\"done\",\"sum\":%.0f}\n", *sum);
  if (!sum) std::fprintf(stderr, "parameter_server: %s\n", sum.error().message.c_str());
  return sum ? 0 : 1;
}
