// The parts that shaped.py runs on its hosts: an owner of objects, and ZeroMQ alone. Each does one
// round for a line of input, and prints when it began or ended, in nanoseconds of one clock.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include <forebay/cluster.h>
#include <zmq.hpp>

#include "tests/bench/objects/keeper.h"

namespace {

using namespace std::chrono_literals;
using forebay::actors::Cluster;
using shaped::Bytes;
using shaped::Keeper;
using Words = std::vector<std::string>;

constexpr std::size_t kMib = std::size_t{1} << 20;
constexpr int kMibOnTheWay = 8;

std::string now() {
  return std::to_string(std::chrono::steady_clock::now().time_since_epoch().count());
}

void say(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

int fail(const std::string& why) {
  say("error " + why);
  return 1;
}

/// Whether every answer is so many bytes.
bool all_are(const std::vector<forebay::actors::Future<std::uint64_t>>& answers,
             std::uint64_t bytes) {
  const auto sizes = forebay::actors::all_of(answers).wait();
  if (!sizes) return fail(sizes.error().message) == 0;
  for (const std::uint64_t size : *sizes) {
    if (size != bytes) return false;
  }
  return true;
}

/// `objects HEAD KEYS MIB NODE…`: lets a Keeper on each node fetch one object ("object"), or sends
/// each the value in a message ("message").
int own_objects(const Words& words) {
  const std::size_t bytes = std::stoul(words.at(2)) * kMib;
  auto cluster = Cluster::join(
      {.head = words.at(0), .keys = words.at(1), .objects = {.memory_bytes = 6 * bytes}});
  if (!cluster) return fail(cluster.error().message);
  std::vector<Keeper::Ref> keepers;
  for (std::size_t i = 3; i < words.size(); ++i) {
    auto keeper =
        cluster->spawn<Keeper>({.type = "keeper", .name = words[i], .node = words[i]}, 0).wait();
    if (!keeper) return fail(keeper.error().message);
    keepers.push_back(*keeper);
  }
  say("ready");
  for (std::string line; std::getline(std::cin, line);) {
    std::vector<forebay::actors::Future<std::uint64_t>> answers;
    if (line == "message") {
      const Bytes value(bytes, std::byte{1});
      say(now());
      for (const Keeper::Ref& keeper : keepers) {
        answers.push_back(keeper.ask(shaped::Take{value}, 10min));
      }
      if (!all_are(answers, bytes)) return 1;
      say(now());
      continue;
    }
    const auto object = cluster->put(Bytes(bytes, std::byte{1}));
    if (!object) return fail(object.error().message);
    say(now());
    for (const Keeper::Ref& keeper : keepers) {
      answers.push_back(keeper.ask(shaped::Fetch{*object}, 10min));
    }
    if (!all_are(answers, bytes)) return 1;
    say(now());
    for (const Keeper::Ref& keeper : keepers) {
      if (!keeper.ask(shaped::Forget{}, 10s).wait()) return 1;
    }
  }
  return 0;
}

/// `receive ADDRESS MIB [PUBLIC SECRET]`: with its keys, encrypted.
int receive(const Words& words) {
  zmq::context_t context;
  zmq::socket_t socket(context, zmq::socket_type::pull);
  socket.set(zmq::sockopt::rcvhwm, kMibOnTheWay);
  if (words.size() > 2) {
    socket.set(zmq::sockopt::curve_server, true);
    socket.set(zmq::sockopt::curve_secretkey, words.at(3));
  }
  socket.bind(words.at(0));
  say("ready");
  const std::size_t bytes = std::stoul(words.at(1)) * kMib;
  for (std::string line; std::getline(std::cin, line);) {
    zmq::message_t part;
    for (std::size_t come = 0; come < bytes; come += part.size()) {
      if (!socket.recv(part)) return 1;
    }
    say(now());
  }
  return 0;
}

/// `send MIB PUBLIC SECRET SERVER_PUBLIC ADDRESS…`: "-" stands for no key.
int send(const Words& words) {
  const std::size_t parts = std::stoul(words.at(0));
  zmq::context_t context;
  std::vector<zmq::socket_t> sockets;
  for (std::size_t i = 4; i < words.size(); ++i) {
    zmq::socket_t& socket = sockets.emplace_back(context, zmq::socket_type::push);
    socket.set(zmq::sockopt::sndhwm, kMibOnTheWay);
    if (words.at(1) != "-") {
      socket.set(zmq::sockopt::curve_publickey, words.at(1));
      socket.set(zmq::sockopt::curve_secretkey, words.at(2));
      socket.set(zmq::sockopt::curve_serverkey, words.at(3));
    }
    socket.connect(words[i]);
  }
  say("ready");
  Bytes bytes(parts * kMib, std::byte{1});
  for (std::string line; std::getline(std::cin, line);) {
    say(now());
    std::vector<std::jthread> threads;
    for (zmq::socket_t& socket : sockets) {
      threads.emplace_back([&socket, &bytes, parts] {
        const auto keep = [](void*, void*) {};
        for (std::size_t i = 0; i < parts; ++i) {
          static_cast<void>(socket.send(zmq::message_t(bytes.data() + i * kMib, kMib, keep),
                                        zmq::send_flags::none));
        }
      });
    }
  }
  return 0;
}

int make_keys() {
  char public_key[41];
  char secret_key[41];
  if (zmq_curve_keypair(public_key, secret_key) != 0) return fail("ZeroMQ has no CURVE");
  say(std::string(public_key) + ' ' + secret_key);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return fail("usage: shaped objects|receive|send|keys …");
  const std::string role = argv[1];
  const Words words(argv + 2, argv + argc);
  if (role == "objects") return own_objects(words);
  if (role == "receive") return receive(words);
  if (role == "send") return send(words);
  return make_keys();
}
