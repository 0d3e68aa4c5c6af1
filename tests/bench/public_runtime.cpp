// The workloads of tools/bench/runtime_bench.cpp through the public headers (include/forebay), and
// the memory of an idle actor. Prints one line of JSON, as caf_runtime does.

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <forebay/actor.h>
#include <malloc.h>

namespace {

using namespace forebay::actors;  // NOLINT(google-build-using-namespace)

constexpr std::uint64_t kFanInMessages = 4'000'000;
constexpr std::uint64_t kRoundTrips = 1'000'000;
constexpr std::uint64_t kSpawns = 300'000;
constexpr std::uint64_t kIdle = 100'000;
constexpr std::uint64_t kSenders = 4;
constexpr std::uint64_t kBurst = 256;

struct Number {
  static constexpr std::string_view kTag = "bench/number";
  std::uint64_t value = 0;
  static auto fields(auto& self) { return std::tie(self.value); }
};
struct Continue {
  static constexpr std::string_view kTag = "bench/continue";
  static auto fields(auto&) { return std::tie(); }
};

struct Receiver : Actor<Receiver, Number> {
  Receiver(std::uint64_t expected, Promise<std::monostate> all)
      : missing(expected), done(std::move(all)) {}
  void on(const Number&) {
    if (--missing == 0) done.set(std::monostate());
  }
  std::uint64_t missing;
  Promise<std::monostate> done;
};

/// Sends numbers in bursts, as many as fit into the receiver's mailbox.
struct Sender : Actor<Sender, Continue> {
  Sender(std::uint64_t count, Receiver::Ref to) : left(count), receiver(std::move(to)) {}
  Status on(const Continue&, Context& context) {
    for (std::uint64_t i = 0; i < kBurst && left > 0; ++i, --left) {
      if (!receiver.tell(Number{left})) break;
    }
    return left > 0 ? self(context).tell(Continue{}) : Status();
  }
  std::uint64_t left;
  Receiver::Ref receiver;
};

struct Ball {
  static constexpr std::string_view kTag = "bench/ball";
  std::uint64_t left = 0;
  Ref<Ball> back;
  static auto fields(auto& self) { return std::tie(self.left, self.back); }
};

/// Returns the ball until enough rounds are played.
struct Player : Actor<Player, Ball> {
  explicit Player(Promise<std::monostate> played) : done(std::move(played)) {}
  Status on(Ball&& ball, Context& context) {
    if (ball.left > 0) return ball.back.tell(Ball{ball.left - 1, self(context)});
    done.set(std::monostate());
    return {};
  }
  Promise<std::monostate> done;
};

struct Mayfly : Actor<Mayfly, Continue> {
  void on(const Continue&, Context& context) { context.stop(); }
};

/// Calls `work` with a new system; returns `count` a second of it.
template <class Work>
double per_second(std::uint64_t count, Work work) {
  auto system = System::start({.threads = 2});
  if (!system) return 0;
  const auto start = std::chrono::steady_clock::now();
  work(*system);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  return static_cast<double>(count) / took.count();
}

double fan_in() {
  return per_second(kFanInMessages, [](System& system) {
    const Promise<std::monostate> done;
    const auto receiver = system.spawn<Receiver>({.name = "receiver"}, kFanInMessages, done);
    for (std::uint64_t i = 0; i < kSenders; ++i) {
      const auto sender =
          system.spawn<Sender>({.name = "sender"}, kFanInMessages / kSenders, receiver);
      if (!sender.tell(Continue{})) return;
    }
    static_cast<void>(done.future().wait());
  });
}

double ping_pong() {
  return per_second(kRoundTrips, [](System& system) {
    const Promise<std::monostate> done;
    const auto ping = system.spawn<Player>({.name = "ping"}, done);
    const auto pong = system.spawn<Player>({.name = "pong"}, done);
    if (ping.tell(Ball{2 * kRoundTrips, pong})) static_cast<void>(done.future().wait());
  });
}

double spawn() {
  return per_second(kSpawns, [](System& system) {
    for (std::uint64_t i = 0; i < kSpawns; ++i) {
      if (!system.spawn<Mayfly>({.name = "mayfly"}).tell(Continue{})) return;
    }
    system.stop();
  });
}

/// Bytes on the heap for each actor that was made, handled a message and waits.
double idle_bytes() {
  auto system = System::start({.threads = 2});
  if (!system) return 0;
  std::vector<Receiver::Ref> receivers;
  receivers.reserve(kIdle);
  const Promise<std::monostate> done;
  const auto before = mallinfo2();
  for (std::uint64_t i = 0; i < kIdle; ++i) {
    receivers.push_back(system->spawn<Receiver>({.name = "idle"}, i + 2, done));
    if (!receivers.back().tell(Number{i})) return 0;
  }
  for (const auto& each : receivers) {
    static_cast<void>(each.ask(Number{1}, std::chrono::minutes(1)).wait());
  }
  const auto after = mallinfo2();
  return static_cast<double>(after.uordblks + after.hblkhd - before.uordblks - before.hblkhd) /
         static_cast<double>(kIdle);
}

}  // namespace

int main() {
  std::printf("{\"fan_in\": %.0f, \"ping_pong\": %.0f, \"spawn\": %.0f, \"idle_bytes\": %.0f}\n",
              fan_in(), ping_pong(), spawn(), idle_bytes());
}
