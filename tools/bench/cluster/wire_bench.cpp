#include "tools/bench/cluster/wire_bench.h"

#include <array>
#include <chrono>
#include <deque>
#include <future>
#include <memory>
#include <utility>

#include <zmq.hpp>

#include "core/base/check.h"
#include "core/base/clock.h"
#include "core/base/median.h"
#include "core/net/zmq/zmq_transport.h"
#include "core/node/node.h"
#include "core/runtime/actor_host.h"
#include "tools/bench/bench.h"
#include "tools/bench/bench_setup.h"

namespace forebay {
namespace {

using Lines = BenchProcess::Lines;
using Kind = WireWork::Kind;

/// A message of slightly more than 64 bytes with its node's header.
struct Small {
  static constexpr std::string_view kTag = "bench.small/1";
  std::uint64_t number = 0;
  std::string text = std::string(40, 'x');
  static auto fields(auto& self) { return std::tie(self.number, self.text); }
};

struct Echo {
  static constexpr std::string_view kTag = "bench.echo/1";
  using Reply = std::string;
  std::string text = std::string(40, 'x');
  bool counts = true;
  static auto fields(auto& self) { return std::tie(self.text, self.counts); }
};

struct Load {
  static constexpr std::string_view kTag = "bench.load/1";
  Frames frames;
  static auto fields(auto& self) { return std::tie(self.frames); }
};
std::size_t bytes_of(const Load& load) { return sizeof(load) + forebay::bytes_of(load.frames); }

using CounterRef = ActorRef<Small, Echo, Load>;

/// Sets a promise when `expected` messages have arrived; echoes.
class CounterActor final : public ActorOf<CounterActor, Small, Echo, Load> {
 public:
  CounterActor(std::uint64_t expected, std::promise<void>& done)
      : missing_(expected), done_(done) {}

  Status on(const Small&, Context&) { return count(); }
  Status on(const Load&, Context&) { return count(); }
  Result<std::string> on(Echo&& echo, Context&) {
    if (echo.counts) static_cast<void>(count());
    return std::move(echo.text);
  }

 private:
  Status count() {
    if (--missing_ == 0) done_.set_value();
    return {};
  }

  std::uint64_t missing_;
  std::promise<void>& done_;
};

/// Sets a promise to the first peer.
class FirstPeerActor final : public ActorOf<FirstPeerActor, PeerUp, PeerDown> {
 public:
  explicit FirstPeerActor(std::promise<PeerId>& peer) : peer_(peer) {}
  Status on(const PeerUp& up, Context&) {
    if (!std::exchange(told_, true)) peer_.set_value(up.peer);
    return {};
  }
  Status on(const PeerDown&, Context&) { return {}; }

 private:
  std::promise<PeerId>& peer_;
  bool told_ = false;
};

/// A node with everything it depends on.
struct WholeNode {
  explicit WholeNode(const CurveKeys* keys)
      : system({.executor = {.name = "bench", .threads = 1}, .on_unheard = {}}, clock),
        transport(ZmqTransport::make(options_with(keys), clock)),
        node(system.host(), *transport) {
    node.start();
  }
  ~WholeNode() {
    transport->stop();
    system.shutdown(ActorHost::Stop::kNow);
  }

  static ZmqTransport::Options options_with(const CurveKeys* keys) {
    ZmqTransport::Options options;
    if (keys != nullptr) options.keys = *keys;
    return options;
  }

  const SystemClock clock;
  ActorSystem system;
  const std::unique_ptr<ZmqTransport> transport;
  Node node;
};

void serve(const WireWork& work, const CurveKeys* keys, const Lines& lines) {
  std::promise<void> done;
  WholeNode whole(keys);
  const CounterRef counter =
      whole.system.spawn({.name = "counter", .mailbox_bytes = std::size_t{1} << 30},
                         [&] { return std::make_unique<CounterActor>(work.messages, done); });
  whole.node.publish("counter", counter);
  const auto address = whole.transport->listen("127.0.0.1:0");
  lines.write(address ? *address : "");
  done.get_future().wait();
  lines.write("done");
  lines.read();
}

/// Sends batches as a split client requests them, with a bounded number in flight.
void send_batches(const CounterRef& counter, const WireWork& work, const Load& load) {
  constexpr std::size_t kOnTheirWay = 32;
  std::deque<Answer<void>> answers;
  for (std::uint64_t i = 0; i < work.messages; ++i) {
    if (answers.size() == kOnTheirWay) {
      FOREBAY_CHECK(answers.front().wait().has_value());
      answers.pop_front();
    }
    answers.push_back(ask(counter, Load(load), std::chrono::seconds(60)));
  }
}

/// Sends messages, and now and then a request to bound the messages in flight to two turns.
void tell_all(const CounterRef& counter, std::uint64_t count) {
  constexpr std::uint64_t kTurn = 16'384;
  std::deque<Answer<std::string>> turns;
  for (std::uint64_t i = 0; i < count; ++i) {
    FOREBAY_CHECK(counter.tell(Small{.number = i}));
    if (i % kTurn != 0) continue;
    turns.push_back(ask(counter, Echo{.counts = false}, std::chrono::seconds(60)));
    if (turns.size() < 2) continue;
    FOREBAY_CHECK(turns.front().wait().has_value());
    turns.pop_front();
  }
}

Load load_of(const WireWork& work) {
  auto bytes = std::make_shared<std::vector<std::byte>>(work.frame_bytes);
  Load load;
  for (std::size_t i = 0; i < work.frames; ++i) {
    load.frames.emplace_back(bytes, bytes->data(), bytes->size());
  }
  return load;
}

double time_ours(const WireWork& work, const CurveKeys* keys, const Lines& lines) {
  std::promise<PeerId> first_peer;
  WholeNode whole(keys);
  whole.node.subscribe(whole.system.spawn(
      {.name = "peers"}, [&] { return std::make_unique<FirstPeerActor>(first_peer); }));
  FOREBAY_CHECK(whole.transport->connect(lines.read()));
  const auto counter = whole.node.actor<CounterRef>(first_peer.get_future().get(), "counter");
  const Load load = load_of(work);
  const Stopwatch watch;
  if (work.kind == Kind::kTells) tell_all(counter, work.messages);
  if (work.kind == Kind::kBatches) send_batches(counter, work, load);
  for (std::uint64_t i = 0; work.kind == Kind::kAsks && i < work.messages; ++i) {
    FOREBAY_CHECK(ask(counter, Echo{}, std::chrono::seconds(10)).wait().has_value());
  }
  lines.read();
  const double took = watch.seconds();
  lines.write("go on");
  return took;
}

/// One line of the result: the measured workload and its unit.
struct Row {
  const char* name;
  WireWork work;
  bool with_keys;
  const char* unit;
};

constexpr WireWork kTells{.kind = Kind::kTells, .messages = 1'000'000};
constexpr WireWork kAsks{.kind = Kind::kAsks, .messages = 5'000};
constexpr WireWork kBatches{
    .kind = Kind::kBatches, .messages = 1'500, .frames = 40, .frame_bytes = 16 * 1024};
constexpr std::array kRows = {Row{"tell", kTells, false, "messages/s"},
                              Row{"ask", kAsks, false, "us"}, Row{"ask_curve", kAsks, true, "us"},
                              Row{"batches", kBatches, false, "MB/s"},
                              Row{"batches_curve", kBatches, true, "MB/s"}};

double figure(const WireWork& work, double seconds) {
  const auto count = static_cast<double>(work.messages);
  if (work.kind == Kind::kAsks) return seconds / count * 1e6;
  if (work.kind == Kind::kTells) return count / seconds;
  return count * static_cast<double>(work.frames * work.frame_bytes) / seconds / 1e6;
}

/// Runs what the other process asks for, one line each, until it closes: `r3` is row 3 with raw
/// ZeroMQ, `o3` with actors.
void serve_all(const CurveKeys& keys, const Lines& lines) {
  for (std::string line = lines.read(); !line.empty(); line = lines.read()) {
    const Row& row = kRows[static_cast<std::size_t>(line[1] - '0')];
    (line[0] == 'r' ? serve_raw : serve)(row.work, row.with_keys ? &keys : nullptr, lines);
  }
}

constexpr std::size_t kSmall = 64;

/// Batches in flight, as many as with actors; more would only make the memory cold.
constexpr int kBatchesOnTheirWay = 16;

zmq::socket_type type_of(Kind kind, bool serves) {
  if (kind == Kind::kAsks) return serves ? zmq::socket_type::rep : zmq::socket_type::req;
  return serves ? zmq::socket_type::pull : zmq::socket_type::push;
}

/// Receives `count` messages of any number of parts.
void take_all(zmq::socket_t& socket, std::uint64_t count) {
  zmq::message_t part;
  while (count > 0) {
    static_cast<void>(socket.recv(part));
    if (!part.more()) --count;
  }
}

void keep(void*, void*) {}

void send_batches(zmq::socket_t& socket, const WireWork& work) {
  std::vector<std::byte> bytes(work.frame_bytes);
  for (std::uint64_t i = 0; i < work.messages; ++i) {
    for (std::size_t frame = 0; frame < work.frames; ++frame) {
      const bool last = frame + 1 == work.frames;
      socket.send(zmq::message_t(bytes.data(), bytes.size(), &keep),
                  last ? zmq::send_flags::none : zmq::send_flags::sndmore);
    }
  }
}

}  // namespace

BenchResults bench_messages(const BenchOptions& options) {
  auto folder = BenchFolder::make();
  if (!folder) return pass(folder);
  const std::string place = folder->path() + "/keys";
  if (Status made = CurveKeys::create(place); !made) return pass(made);
  auto keys = CurveKeys::read(place);
  if (!keys) return pass(keys);
  auto other = BenchProcess::start([&](const Lines& lines) { serve_all(*keys, lines); });
  if (!other) return pass(other);
  const Lines& lines = other->lines();
  Measurements raw;
  Measurements ours;
  auto measured = each_round(options.rounds, [&]() -> Status {
    for (std::size_t i = 0; i < kRows.size(); ++i) {
      const auto& [name, work, with_keys, unit] = kRows[i];
      if (!options.only.empty() && options.only != name) continue;
      const CurveKeys* with = with_keys ? &*keys : nullptr;
      lines.write("r" + std::to_string(i));
      raw.add(name, figure(work, time_raw(work, with, lines)));
      lines.write("o" + std::to_string(i));
      ours.add(name, figure(work, time_ours(work, with, lines)));
    }
    return {};
  });
  if (!measured) return pass(measured);
  std::vector<BenchResult> results;
  for (const Row& row : kRows) {
    if (!ours.has(row.name)) continue;
    results.push_back(BenchResult::over(row.name, ours[row.name], row.unit, raw[row.name]));
  }
  return results;
}

void serve_raw(const WireWork& work, const CurveKeys* keys, const Lines& lines) {
  zmq::context_t context;
  zmq::socket_t socket(context, type_of(work.kind, true));
  socket.set(zmq::sockopt::linger, 0);
  if (work.kind == Kind::kBatches) socket.set(zmq::sockopt::rcvhwm, kBatchesOnTheirWay);
  if (keys != nullptr) {
    socket.set(zmq::sockopt::curve_server, true);
    socket.set(zmq::sockopt::curve_secretkey, *keys->server_secret);
  }
  socket.bind("tcp://127.0.0.1:*");
  lines.write(socket.get(zmq::sockopt::last_endpoint));
  if (work.kind != Kind::kAsks) take_all(socket, work.messages);
  zmq::message_t message;
  for (std::uint64_t i = 0; work.kind == Kind::kAsks && i < work.messages; ++i) {
    static_cast<void>(socket.recv(message));
    socket.send(message, zmq::send_flags::none);
  }
  lines.write("done");
  lines.read();
}

double time_raw(const WireWork& work, const CurveKeys* keys, const Lines& lines) {
  const std::string endpoint = lines.read();
  zmq::context_t context;
  zmq::socket_t socket(context, type_of(work.kind, false));
  if (work.kind == Kind::kBatches) socket.set(zmq::sockopt::sndhwm, kBatchesOnTheirWay);
  if (keys != nullptr) {
    socket.set(zmq::sockopt::curve_serverkey, keys->server_public);
    socket.set(zmq::sockopt::curve_publickey, keys->client->public_key);
    socket.set(zmq::sockopt::curve_secretkey, keys->client->secret_key);
  }
  socket.connect(endpoint);
  const std::string small(kSmall, 'x');
  const Stopwatch watch;
  if (work.kind == Kind::kBatches) send_batches(socket, work);
  for (std::uint64_t i = 0; work.kind == Kind::kTells && i < work.messages; ++i) {
    socket.send(zmq::buffer(small), zmq::send_flags::none);
  }
  zmq::message_t answer;
  for (std::uint64_t i = 0; work.kind == Kind::kAsks && i < work.messages; ++i) {
    socket.send(zmq::buffer(small), zmq::send_flags::none);
    static_cast<void>(socket.recv(answer));
  }
  lines.read();
  const double took = watch.seconds();
  lines.write("go on");
  return took;
}

}  // namespace forebay
