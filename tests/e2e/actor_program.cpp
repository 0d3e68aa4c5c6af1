// Does what actors_cluster_test.py writes, a command a line, and prints what came of each.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tests/e2e/actor_types.h"

namespace {

using namespace forebay::actors;  // NOLINT(google-build-using-namespace)
using counting::Add;
using counting::Counter;

void print(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

std::string words_of(const Error& error) {
  return "error " + std::to_string(static_cast<int>(error.code)) + ' ' + error.message;
}
std::string words_of(std::monostate) { return "done"; }
std::string words_of(int number) { return std::to_string(number); }
std::string words_of(const ActorPlace& place) {
  return place.node + ' ' + std::to_string(place.moves);
}
std::string words_of(const Counter::Ref&) { return "done"; }

template <class T>
std::string words_of(const Result<T>& result) {
  return result ? words_of(*result) : words_of(result.error());
}

/// Keeps a reference to each actor by its name.
class Program {
 public:
  explicit Program(Cluster& cluster) : cluster_(cluster) {}

  std::string run(const std::string& command, const std::string& name, std::istringstream& rest) {
    using namespace std::chrono_literals;
    int number = 0;
    rest >> number;
    const Counter::Ref actor = actors_[name];
    if (command == "spawn") return spawn(name, number, rest);
    if (command == "group") return spawn_group(name, number, rest);
    if (command == "find") return keep(name, cluster_.find<Counter>(name).wait());
    if (command == "place") return words_of(cluster_.place(name).wait());
    if (command == "add") return words_of(actor.tell(Add{number}));
    if (command == "total") return words_of(actor.ask(counting::Total{}, 5s).wait());
    if (command == "wait") return words_of(actor.ask(counting::Wait{}, 30s).wait());
    if (command == "keep") return words_of(actor.ask(counting::Keep{}, 5s).wait());
    if (command == "throw") return words_of(actor.ask(counting::Throw{}, 5s).wait());
    if (command == "crash") return words_of(actor.ask(counting::Crash{}, 30s).wait());
    if (command == "receive") return receive(actor);
    if (command == "stop") return (actor.stop(), "done");
    if (command == "watch") {
      cluster_.watch(actor,
                     [name](const Down& down) { print("down " + name + ' ' + down.reason); });
      return "done";
    }
    return "no such command";
  }

 private:
  std::string keep(const std::string& name, Result<Counter::Ref> found) {
    if (found) actors_[name] = *found;
    return words_of(found);
  }

  std::string spawn(const std::string& name, int from, std::istringstream& rest) {
    ClusterSpawn options{.type = "counter", .name = name};
    rest >> options.restarts >> options.node;
    if (options.node == "anywhere") options.node.clear();
    std::uint64_t mib = 0;
    std::string placing;
    rest >> options.cpus >> mib >> placing >> options.near;
    options.memory_bytes = mib << 20;
    if (placing == "pack") options.placing = Placing::kPack;
    if (options.node == "nowhere") options.type = "nothing";
    if (options.node == "nowhere") options.node.clear();
    return keep(name, cluster_.spawn<Counter>(options, from).wait());
  }

  /// Starts NAME0, NAME1 and so on, each of which needs so much memory.
  std::string spawn_group(const std::string& name, int count, std::istringstream& rest) {
    std::uint64_t mib = 0;
    int from = 0;
    rest >> mib >> from;
    std::vector<ClusterSpawn> group;
    for (int i = 0; i < count; ++i) {
      group.push_back({.type = "counter", .name = name + std::to_string(i), .restarts = 3});
      group.back().memory_bytes = mib << 20;
    }
    auto started = cluster_.spawn_group<Counter>(group, from).wait();
    if (!started) return words_of(started.error());
    for (int i = 0; i < count; ++i)
      actors_[group[static_cast<std::size_t>(i)].name] = (*started)[static_cast<std::size_t>(i)];
    return "done";
  }

  /// Lets the actor send its total to an actor of this program.
  std::string receive(const Counter::Ref& actor) {
    using namespace std::chrono_literals;
    struct Receiver : Actor<Receiver, Add> {
      explicit Receiver(Promise<int> into) : total(std::move(into)) {}
      void on(const Add& add) { total.set(add.count); }
      Promise<int> total;
    };
    const Promise<int> total;
    const auto here = cluster_.spawn_here<Receiver>({.name = "receiver"}, total);
    if (auto status = actor.tell(counting::SendTotal{here}); !status) return words_of(status);
    return words_of(total.future().wait());
  }

  Cluster& cluster_;
  std::map<std::string, Counter::Ref> actors_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  auto cluster =
      Cluster::join({.head = argv[1], .patience = std::chrono::seconds(argc > 2 ? 1 : 10)});
  if (!cluster) {
    print(words_of(cluster.error()));
    return 1;
  }
  print("joined");
  Program program(*cluster);
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream rest(line);
    std::string command;
    std::string name;
    rest >> command >> name;
    std::string said = command;
    said.append(" ").append(name).append(": ").append(program.run(command, name, rest));
    print(said);
  }
  return 0;
}
