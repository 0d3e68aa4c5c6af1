#include <array>
#include <future>
#include <memory>
#include <utility>

#include "core/base/check.h"
#include "core/base/clock.h"
#include "core/runtime/actor.h"
#include "core/runtime/actor_host.h"
#include "core/runtime/stage_pool.h"
#include "tools/bench/bench.h"
#include "tools/bench/bench_process.h"
#include "tools/bench/bench_setup.h"

namespace forebay {
namespace {

// The amount of work of each workload.
constexpr std::uint64_t kFanInMessages = 4'000'000;  // of all senders together
constexpr std::uint64_t kRoundTrips = 1'000'000;
constexpr std::uint64_t kSpawns = 300'000;
constexpr std::uint64_t kPoolTokens = 40'000;

constexpr std::uint64_t kSenders = 4;
constexpr std::uint64_t kBurst = 256;

struct Number {
  static constexpr std::string_view kTag = "bench.number/1";
  std::uint64_t value = 0;
};

struct Continue {
  static constexpr std::string_view kTag = "bench.continue/1";
};

/// Sets a promise when `expected` numbers have arrived.
class ReceiverActor final : public ActorOf<ReceiverActor, Number> {
 public:
  ReceiverActor(std::uint64_t expected, std::promise<void>& done)
      : missing_(expected), done_(done) {}

  Status on(const Number&, Context&) {
    if (--missing_ == 0) done_.set_value();
    return {};
  }

 private:
  std::uint64_t missing_;
  std::promise<void>& done_;
};

/// Sends numbers in bursts, as many as fit into the receiver's mailbox.
class SenderActor final : public ActorOf<SenderActor, Continue> {
 public:
  SenderActor(std::uint64_t count, ActorRef<Number> receiver)
      : count_(count), receiver_(std::move(receiver)) {}

  Status on(const Continue&, Context& context) {
    for (std::uint64_t i = 0; i < kBurst && count_ > 0; ++i, --count_) {
      if (!receiver_.tell(Number{count_})) break;
    }
    return count_ > 0 ? self(context).tell(Continue{}) : Status{};
  }

 private:
  std::uint64_t count_;
  const ActorRef<Number> receiver_;
};

struct Ball {
  static constexpr std::string_view kTag = "bench.ball/1";
  std::uint64_t left = 0;
  ActorRef<Ball> back = {};
};

/// Returns the ball until enough rounds are played.
class PlayerActor final : public ActorOf<PlayerActor, Ball> {
 public:
  explicit PlayerActor(std::promise<void>& done) : done_(done) {}

  Status on(Ball&& ball, Context& context) {
    if (ball.left == 0) {
      done_.set_value();
      return {};
    }
    const ActorRef<Ball> back = std::move(ball.back);
    return back.tell(Ball{ball.left - 1, self(context)});
  }

 private:
  std::promise<void>& done_;
};

/// Ends after its first message.
class MayflyActor final : public ActorOf<MayflyActor, Continue> {
 public:
  Status on(const Continue&, Context& context) {
    context.stop();
    return {};
  }
};

double per_second(std::uint64_t count, const Stopwatch& watch) {
  return static_cast<double>(count) / watch.seconds();
}

ActorSystem::Options system_options() {
  return {.executor = {.name = "bench", .threads = 2}, .on_unheard = {}};
}

double fan_in(const Clock& clock) {
  ActorSystem system(system_options(), clock);
  std::promise<void> done;
  constexpr std::uint64_t kEach = kFanInMessages / kSenders;
  const Stopwatch watch;
  const auto receiver = system.spawn({.name = "receiver"}, [&] {
    return std::make_unique<ReceiverActor>(kEach * kSenders, done);
  });
  for (std::uint64_t i = 0; i < kSenders; ++i) {
    const auto sender = system.spawn(
        {.name = "sender"}, [=] { return std::make_unique<SenderActor>(kEach, receiver); });
    FOREBAY_CHECK(sender.tell(Continue{}).has_value());
  }
  done.get_future().wait();
  return per_second(kEach * kSenders, watch);
}

double ping_pong(const Clock& clock) {
  ActorSystem system(system_options(), clock);
  std::promise<void> done;
  const Stopwatch watch;
  const auto make = [&] { return std::make_unique<PlayerActor>(done); };
  const auto ping = system.spawn({.name = "ping"}, make);
  const auto pong = system.spawn({.name = "pong"}, make);
  FOREBAY_CHECK(ping.tell(Ball{2 * kRoundTrips, pong}).has_value());
  done.get_future().wait();
  return per_second(kRoundTrips, watch);
}

double spawn(const Clock& clock) {
  ActorSystem system(system_options(), clock);
  const Stopwatch watch;
  for (std::uint64_t i = 0; i < kSpawns; ++i) {
    const auto mayfly =
        system.spawn({.name = "mayfly"}, [] { return std::make_unique<MayflyActor>(); });
    FOREBAY_CHECK(mayfly.tell(Continue{}).has_value());
  }
  system.shutdown(ActorHost::Stop::kDrain);
  return per_second(kSpawns, watch);
}

/// Counts as a split of 1 MiB without having the bytes.
struct Token {
  std::uint64_t key = 0;
  std::unique_ptr<std::byte[]> bytes = nullptr;
};

constexpr std::size_t kTokenBytes = 1024 * 1024;

class PassOn final : public PoolWorker<Token> {
 public:
  explicit PassOn(StagePool<Token>* behind) : behind_(behind) {}

  Status on(Token&& token, PoolContext& context) override {
    if (behind_ != nullptr && !behind_->offer(std::move(token), kTokenBytes, context)) {
      return fail(Code::kUnavailable, "the pool behind is closed");
    }
    return {};
  }

 private:
  StagePool<Token>* const behind_;
};

double pool_handoff(const Clock& clock) {
  constexpr std::size_t kPools = 4;
  std::vector<std::unique_ptr<StagePool<Token>>> pools;
  for (std::size_t i = 0; i < kPools; ++i) {
    StagePool<Token>* behind = pools.empty() ? nullptr : pools.back().get();
    pools.push_back(std::make_unique<StagePool<Token>>(
        StagePool<Token>::Options{.name = "pool",
                                  .mailbox_bytes = 4 * kTokenBytes,
                                  .order = PoolOrder::kLowestKey,
                                  .factory = [behind] { return std::make_unique<PassOn>(behind); },
                                  .on_drained =
                                      [behind] {
                                        if (behind != nullptr) behind->close();
                                      }},
        clock));
    pools.back()->grow(2);
  }
  const double start = own_cpu_seconds();
  for (std::uint64_t key = 0; key < kPoolTokens; ++key) {
    FOREBAY_CHECK(pools.back()->offer(Token{key}, kTokenBytes));
  }
  pools.back()->close();
  for (auto pool = pools.rbegin(); pool != pools.rend(); ++pool) (*pool)->join();
  return (own_cpu_seconds() - start) * 1e9 / static_cast<double>(kPoolTokens * kPools);
}

struct Workload {
  const char* name;
  double (*measure)(const Clock& clock);
  const char* unit;
};

constexpr std::array kWorkloads = {
    Workload{"fan_in", fan_in, "messages/s"}, Workload{"ping_pong", ping_pong, "round trips/s"},
    Workload{"spawn", spawn, "actors/s"}, Workload{"pool_handoff", pool_handoff, "ns"}};

}  // namespace

BenchResults bench_runtime(const BenchOptions& options) {
  const SystemClock clock;
  Measurements ours;
  Measurements theirs;
  auto measured = each_round(options.rounds, [&]() -> Status {
    for (const Workload& each : kWorkloads) ours.add(each.name, each.measure(clock));
    if (!options.other) return {};
    auto said = numbers_said_by("'" + *options.other + "'");
    if (!said) return pass(said);
    for (const auto& [name, value] : *said) theirs.add(name, value);
    return {};
  });
  if (!measured) return pass(measured);
  std::vector<BenchResult> results;
  for (const Workload& each : kWorkloads) {
    const double value = ours[each.name];
    results.push_back(theirs.has(each.name)
                          ? BenchResult::over(each.name, value, each.unit, theirs[each.name])
                          : BenchResult{each.name, value, each.unit});
  }
  return results;
}

}  // namespace forebay
