// The workloads of tools/bench/runtime_bench.cpp on CAF 0.17, for comparison on one machine.
// Prints one line of JSON. Built when CAF is found.

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <future>

#include <caf/all.hpp>

namespace {

using Continue = caf::atom_constant<caf::atom("continue")>;

constexpr std::uint64_t kFanInMessages = 4'000'000;
constexpr std::uint64_t kRoundTrips = 1'000'000;
constexpr std::uint64_t kSpawns = 300'000;
constexpr std::uint64_t kSenders = 4;
constexpr std::uint64_t kBurst = 256;

struct Count {
  std::uint64_t left = 0;
};

caf::behavior receiver(caf::stateful_actor<Count>* self, std::promise<void>* done) {
  self->state.left = kFanInMessages;
  return {[=](std::uint64_t) {
    if (--self->state.left == 0) done->set_value();
  }};
}

caf::behavior sender(caf::stateful_actor<Count>* self, caf::actor target) {
  self->state.left = kFanInMessages / kSenders;
  return {[=](Continue) {
    for (std::uint64_t i = 0; i < kBurst && self->state.left > 0; ++i, --self->state.left) {
      self->send(target, self->state.left);
    }
    if (self->state.left > 0) self->send(self, Continue::value);
  }};
}

caf::behavior player(caf::event_based_actor* self, std::promise<void>* done) {
  return {[=](std::uint64_t left) {
    if (left == 0) {
      done->set_value();
      return;
    }
    self->send(caf::actor_cast<caf::actor>(self->current_sender()), left - 1);
  }};
}

caf::behavior mayfly(caf::event_based_actor* self) {
  return {[=](Continue) { self->quit(); }};
}

template <class Work>
double per_second(std::uint64_t count, Work work) {
  caf::actor_system_config config;
  config.set("scheduler.max-threads", 2);
  caf::actor_system system(config);
  const auto start = std::chrono::steady_clock::now();
  work(system);
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  return static_cast<double>(count) / time.count();
}

double fan_in() {
  return per_second(kFanInMessages, [](caf::actor_system& system) {
    std::promise<void> done;
    auto target = system.spawn(receiver, &done);
    for (std::uint64_t i = 0; i < kSenders; ++i) {
      caf::anon_send(system.spawn(sender, target), Continue::value);
    }
    done.get_future().wait();
    caf::anon_send_exit(target, caf::exit_reason::user_shutdown);
  });
}

double ping_pong() {
  return per_second(kRoundTrips, [](caf::actor_system& system) {
    std::promise<void> done;
    auto ping = system.spawn(player, &done);
    auto pong = system.spawn(player, &done);
    caf::send_as(pong, ping, std::uint64_t{2 * kRoundTrips});
    done.get_future().wait();
  });
}

double spawn() {
  return per_second(kSpawns, [](caf::actor_system& system) {
    for (std::uint64_t i = 0; i < kSpawns; ++i) {
      caf::anon_send(system.spawn(mayfly), Continue::value);
    }
    system.await_all_actors_done();
  });
}

}  // namespace

int main() {
  std::printf("{\"fan_in\": %.0f, \"ping_pong\": %.0f, \"spawn\": %.0f}\n", fan_in(), ping_pong(),
              spawn());
}
