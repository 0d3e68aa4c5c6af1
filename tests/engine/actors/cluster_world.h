#pragma once

#include <chrono>
#include <fstream>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/node/node.h"
#include "core/runtime/ask.h"
#include "core/store/store.h"
#include "engine/actors/cluster/actor_node.h"
#include "engine/actors/cluster/directory/actor_directory.h"
#include "engine/actors/cluster/libraries/library_digest.h"
#include "tests/support/sim_network.h"
#include "tests/support/test_host.h"

#include "tests/support/catch.h"

namespace forebay::test {

/// A library that is only bytes; it has one type, of its own name.
struct FakeLibrary {
  FakeLibrary(std::string file, std::string content, bool ships = false)
      : info{.name = std::move(file),
             .bytes = content.size(),
             .digest = {},
             .types = {},
             .ships = ships},
        bytes(std::move(content)) {
    LibraryDigest digest;
    for (std::size_t at = 0; at < bytes.size(); at += kLibraryChunk) digest.add(part(at));
    info.digest = digest.hex();
    info.types = {info.name};
  }
  std::span<const std::byte> part(std::uint64_t offset) const {
    return std::as_bytes(std::span(bytes)).subspan(offset, library_part(bytes.size(), offset));
  }
  Frame frame(std::uint64_t offset) const {
    const auto bytes_there = part(offset);
    const auto held =
        std::make_shared<std::vector<std::byte>>(bytes_there.begin(), bytes_there.end());
    return Frame(held, held->data(), held->size());
  }
  LibraryInfo info;
  std::string bytes;
};

/// The libraries of a node, without a dynamic loader.
struct FakeLibraries final : NodeLibraries {
  const LoadedTypes& types() const override { return loaded; }
  std::vector<LibraryInfo> list() const override {
    std::vector<LibraryInfo> all;
    for (const FakeLibrary& one : libraries) all.push_back(one.info);
    return all;
  }
  bool accepts_shipped() const override { return accepts; }
  Result<LibraryChunk> read(const ReadLibrary& read) const override {
    ++reads;
    for (const FakeLibrary& one : libraries) {
      if (one.info.digest != read.digest || !one.info.ships) continue;
      return LibraryChunk{{one.frame(read.offset)}};
    }
    return fail(Code::kNotFound, "this node does not ship the library");
  }
  Result<LibraryInfo> open_shipped(const std::string& path) override {
    if (refuses) return fail(Code::kInvalid, "told to refuse");
    std::ifstream file(path, std::ios::binary);
    const std::string name = path.substr(path.rfind('/') + 1);
    libraries.emplace_back(name, std::string(std::istreambuf_iterator<char>(file), {}), true);
    return libraries.back().info;
  }

  LoadedTypes loaded;
  std::vector<FakeLibrary> libraries;
  bool accepts = false;
  bool refuses = false;
  mutable int reads = 0;
};

/// A process on a simulated network: the head, or a node if it has libraries.
struct ClusterProcess {
  ClusterProcess(SimNetwork& network, const std::string& name)
      : transport(network, name), node(host.host(), transport), users(host.host()) {
    node.start();
    static_cast<void>(transport.listen(name));
  }
  ~ClusterProcess() {
    transport.stop();
    host.host().stop_all(ActorHost::Stop::kNow);
    host.deliver_all();
  }
  ClusterProcess(const ClusterProcess&) = delete;
  ClusterProcess& operator=(const ClusterProcess&) = delete;

  template <class Ref>
  Ref find(const std::string& address, std::string_view name) {
    const PeerId peer = transport.peer_at(address);
    return peer == PeerId::kNone ? Ref() : node.actor<Ref>(peer, name);
  }

  TestHost host;
  SimTransport transport;
  Node node;
  UserHost users;
  FakeLibraries libraries;
  ActorRef<LocateActor> actors;  // of a node
  std::string said;
};

/// A head, nodes and their network, in simulated time.
class ClusterWorld {
 public:
  ClusterWorld() {
    network.max_backlog = std::size_t{16} << 20;  // Parts of libraries take 1 MiB.
    ClusterProcess& here = add("head");
    const ActorDirectory::Options options{
        .begin = 100, .say = [&here](const std::string& line) { here.said += line + '\n'; }};
    directory = here.host.spawn({.name = "directory", .mailbox_bytes = kMailbox}, [this, options] {
      return std::make_unique<ActorDirectory>(options, store);
    });
    here.node.publish(std::string(kDirectoryName), DirectoryRef(directory));
    REQUIRE(directory.tell(BeginDirectory{}));
  }

  ClusterProcess& head() { return processes.front(); }
  ClusterProcess& add(const std::string& name) { return processes.emplace_back(network, name); }
  /// A node with what `setup` does to its libraries, in the cluster.
  template <class Setup>
  ClusterProcess& add_node(const std::string& name, Setup setup) {
    ClusterProcess& made = add(name);
    setup(made.libraries);
    REQUIRE(made.transport.connect("head"));
    const ActorNode::Options options{
        .name = name,
        .address = name,
        .process = ++num_nodes,
        .directory = [&made] { return made.find<DirectoryRef>("head", kDirectoryName); },
        .say = [&made](const std::string& line) { made.said += line + '\n'; }};
    const auto actor =
        made.host.spawn({.name = "actor-node", .mailbox_bytes = kMailbox}, [&made, options] {
          return std::make_unique<ActorNode>(options, made.libraries, made.users);
        });
    made.actors = ActorRef<LocateActor>(actor);
    made.node.publish(std::string(kActorNodeName), made.actors);
    REQUIRE(actor.tell(BeginActorNode{}));
    pass(std::chrono::milliseconds(300));
    return made;
  }

  /// Lets so much time go by, in steps of 5 ms.
  void pass(std::chrono::milliseconds time) {
    for (auto done = std::chrono::milliseconds(0); done < time; done += kStep) {
      now_ += kStep;
      network.step(now_);
      for (ClusterProcess& one : processes) {
        one.host.advance(kStep);
        one.host.deliver_all();
      }
    }
  }

  /// Asks an actor of `from`'s, or one that it has a reference to.
  template <Message M, class Ref>
  Result<ReplyOf<M>> ask(const Ref& ref, M message) {
    std::optional<Result<ReplyOf<M>>> answer;
    ask_and_deliver(ref, std::move(message), std::chrono::seconds(1),
                    [&answer](Result<ReplyOf<M>> result) { answer = std::move(result); });
    pass(std::chrono::milliseconds(1100));
    return answer.value_or(fail(Code::kTimeout, "no answer"));
  }

  static constexpr std::size_t kMailbox = std::size_t{1} << 30;
  static constexpr std::chrono::milliseconds kStep{5};

  SimNetwork network{1};
  MemoryStore store;
  std::list<ClusterProcess> processes;
  ActorDirectory::Ref directory;

 private:
  std::chrono::nanoseconds now_{0};
  std::uint64_t num_nodes = 0;
};

}  // namespace forebay::test
