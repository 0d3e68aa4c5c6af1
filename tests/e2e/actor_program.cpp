// Does what actors_cluster_test.py writes, a command a line, and prints what came of each.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <future>
#include <iostream>
#include <map>
#include <optional>
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
using counting::Holder;

void print(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

std::string words_of(const Error& error) {
  return "error " + std::to_string(static_cast<int>(error.code)) + ' ' + error.message;
}
std::string words_of(std::monostate) { return "done"; }
std::string words_of(int number) { return std::to_string(number); }
std::string words_of(const std::optional<int>& number) {
  return number ? std::to_string(*number) : "none";
}
std::string words_of(const ActorPlace& place) {
  return place.node + ' ' + std::to_string(place.moves);
}
std::string words_of(const Counter::Ref&) { return "done"; }
std::string words_of(const Holder::Ref&) { return "done"; }
std::string words_of(const Object<counting::Bytes>&) { return "done"; }
std::string words_of(const std::vector<int>& numbers) {
  std::string words;
  for (const int number : numbers) words += std::to_string(number) + ' ';
  return words;
}
std::string words_of(const counting::Bytes& bytes) {
  return std::to_string(counting::sum_of(bytes));
}
std::string words_of(const View<counting::Bytes>& view) {
  return std::to_string(counting::sum_of(view));
}

template <class T>
std::string words_of(const Result<T>& result) {
  return result ? words_of(*result) : words_of(result.error());
}

/// Keeps references to objects and to their holders by name.
class Objects {
 public:
  explicit Objects(Cluster& cluster) : cluster_(cluster) {}

  /// Nothing if it is another command.
  std::string run(const std::string& command, const std::string& name, std::istringstream& rest) {
    using namespace std::chrono_literals;
    std::string other;
    rest >> other;
    const Holder::Ref holder = holders_[name];
    if (command == "holder") {
      return keep(
          holders_[name],
          cluster_.spawn<Holder>({.type = "holder", .name = name, .node = other}, 0).wait());
    }
    if (command == "meet") return keep(holders_[name], cluster_.find<Holder>(name).wait());
    if (command == "fill") return fill(holder, std::stoi(other), rest);
    if (command == "filled") return words_of(holder.ask(counting::Filled{}, 30s).wait());
    if (command == "whole") {
      return words_of(holder.ask(counting::Whole{std::stoi(other)}, 30s).wait());
    }
    if (command == "put") {
      return keep(objects_[name], cluster_.put(counting::bytes_of_ones(std::stoi(other))));
    }
    if (command == "forget") return (objects_.erase(name), "done");
    if (command == "read") return words_of(objects_[name].get().wait());
    if (command == "take") return words_of(holder.ask(counting::Take{objects_[other]}, 5s).wait());
    if (command == "sum") return words_of(holder.ask(counting::Sum{}, 30s).wait());
    if (command == "make") {
      std::string object;
      rest >> object;
      return keep(objects_[object], holder.ask(counting::Make{std::stoi(other)}, 5s).wait());
    }
    return "";
  }

 private:
  template <class T>
  static std::string keep(T& into, Result<T> made) {
    if (made) into = *made;
    return words_of(made);
  }
  /// Sends the numbers from `first` to an end; the even ones come with so many MiB.
  static std::string fill(const Holder::Ref& holder, int first, std::istringstream& rest) {
    int end = 0;
    int mib = 0;
    rest >> end >> mib;
    for (int number = first; number < end;) {
      const auto status =
          holder.tell(counting::Fill{number, counting::bytes_of_ones(number % 2 == 0 ? mib : 0)});
      if (status) {
        ++number;
      } else if (status.error().code == Code::kOverloaded) {
        std::promise<void>().get_future().wait_for(std::chrono::milliseconds(5));
      } else {
        return words_of(status);
      }
    }
    return "done";
  }

  Cluster& cluster_;
  std::map<std::string, Holder::Ref> holders_;
  std::map<std::string, Object<counting::Bytes>> objects_;
};

/// Keeps a reference to each actor by its name.
class Program {
 public:
  explicit Program(Cluster& cluster) : cluster_(cluster), objects_(cluster) {}

  std::string run(const std::string& command, const std::string& name, std::istringstream& rest) {
    using namespace std::chrono_literals;
    const auto begin = rest.tellg();
    if (std::string said = objects_.run(command, name, rest); !said.empty()) return said;
    rest.clear();
    rest.seekg(begin);
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
    if (command == "spin") return words_of(actor.tell(counting::Spin{number}));
    if (command == "block") return words_of(actor.tell(counting::Block{}));
    if (command == "crash") return words_of(actor.ask(counting::Crash{}, 30s).wait());
    if (command == "receive") return receive(actor);
    if (command == "half") return half(number, rest);
    if (command == "need_even") {
      return words_of(cluster_.run<counting::need_even>({.task = "need_even"}, number).wait());
    }
    if (command == "exact_half") {
      return words_of(cluster_.run<counting::exact_half>({.task = "exact_half"}, number).wait());
    }
    if (command == "processes") return processes(number, rest);
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

  /// Waits for a node that has the task for so many milliseconds, if they are given.
  std::string half(int number, std::istringstream& rest) {
    TaskOptions options{.task = "half"};
    int milliseconds = 0;
    if (rest >> milliseconds) options.patience = std::chrono::milliseconds(milliseconds);
    return words_of(cluster_.run<counting::half>(options, number).wait());
  }

  /// Runs so many tasks at a time that take so long, and says which processes ran them.
  std::string processes(int count, std::istringstream& rest) {
    int milliseconds = 0;
    std::size_t retries = 3;
    rest >> milliseconds >> retries;
    std::vector<Future<int>> all;
    for (int i = 0; i < count; ++i) {
      all.push_back(cluster_.run<counting::process_after>(
          {.task = "process_after", .retries = retries}, milliseconds));
    }
    const auto processes = all_of(all).wait();
    if (!processes) return words_of(processes.error());
    std::string said;
    for (const int process : *processes) said += std::to_string(process) + ' ';
    return said;
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
  Objects objects_;
  std::map<std::string, Counter::Ref> actors_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  auto cluster = Cluster::join({.head = argv[1],
                                .patience = std::chrono::seconds(argc > 2 ? 1 : 10),
                                .objects = {.memory_bytes = std::uint64_t{64} << 20}});
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
