#include "tools/bench/cluster/wire_bench.h"

#include <array>
#include <chrono>
#include <deque>
#include <future>
#include <map>
#include <memory>
#include <utility>

#include <zmq.hpp>

#include "core/base/check.h"
#include "core/base/clock.h"
#include "core/base/median.h"
#include "core/net/zmq/zmq_transport.h"
#include "core/node/node.h"
#include "core/runtime/actor_host.h"

namespace forebay {
namespace {

using Lines = BenchProcess::Lines;

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
  WholeNode(const CurveKeys* keys, const Clock& clock)
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

  ActorSystem system;
  const std::unique_ptr<ZmqTransport> transport;
  Node node;
};

std::uint64_t count_of(const std::string& what, const WireBenchOptions& options) {
  if (what == "push") return options.tells;
  return what == "req" ? options.asks : options.batches;
}

void serve(const std::string& what, const WireBenchOptions& options, const CurveKeys* keys,
           const Lines& lines) {
  const SystemClock clock;
  std::promise<void> done;
  WholeNode whole(keys, clock);
  const CounterRef counter = whole.system.spawn(
      {.name = "counter", .mailbox_bytes = std::size_t{1} << 30},
      [&] { return std::make_unique<CounterActor>(count_of(what, options), done); });
  whole.node.publish("counter", counter);
  const auto address = whole.transport->listen("127.0.0.1:0");
  lines.write(address ? *address : "");
  done.get_future().wait();
  lines.write("done");
  lines.read();
}

/// Sends batches as a split client requests them, with a bounded number in flight.
void send_batches(const CounterRef& counter, const WireBenchOptions& options, const Load& load) {
  constexpr std::size_t kOnTheirWay = 32;
  std::deque<Answer<void>> answers;
  for (std::uint64_t i = 0; i < options.batches; ++i) {
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

Load load_of(const WireBenchOptions& options) {
  auto bytes = std::make_shared<std::vector<std::byte>>(options.frame_bytes);
  Load load;
  for (std::size_t i = 0; i < options.frames; ++i) {
    load.frames.emplace_back(bytes, bytes->data(), bytes->size());
  }
  return load;
}

double time_ours(const std::string& what, const WireBenchOptions& options, const CurveKeys* keys,
                 const Lines& lines, const Clock& clock) {
  std::promise<PeerId> first_peer;
  WholeNode whole(keys, clock);
  whole.node.subscribe(whole.system.spawn(
      {.name = "peers"}, [&] { return std::make_unique<FirstPeerActor>(first_peer); }));
  FOREBAY_CHECK(whole.transport->connect(lines.read()));
  const auto counter = whole.node.actor<CounterRef>(first_peer.get_future().get(), "counter");
  const Load load = load_of(options);
  const auto start = clock.now();
  if (what == "push") tell_all(counter, options.tells);
  if (what == "batches") send_batches(counter, options, load);
  for (std::uint64_t i = 0; what == "req" && i < options.asks; ++i) {
    FOREBAY_CHECK(ask(counter, Echo{}, std::chrono::seconds(10)).wait().has_value());
  }
  lines.read();
  const auto took = clock.now() - start;
  lines.write("go on");
  return in_seconds(took);
}

/// One line of the result: the measured workload and its unit.
struct Row {
  std::string name;
  std::string what;
  bool with_keys = false;
  std::string unit;
};

double figure(const Row& row, const WireBenchOptions& options, double seconds) {
  const auto count = static_cast<double>(count_of(row.what, options));
  if (row.what == "req") return seconds / count * 1e6;
  if (row.what == "push") return count / seconds;
  return count * static_cast<double>(options.frames * options.frame_bytes) / seconds / 1e6;
}

const std::array<Row, 5>& rows() {
  static const std::array<Row, 5> all = {
      Row{"tell", "push", false, "messages/s"}, Row{"ask", "req", false, "us"},
      Row{"ask_curve", "req", true, "us"}, Row{"batches", "batches", false, "MB/s"},
      Row{"batches_curve", "batches", true, "MB/s"}};
  return all;
}

Result<CurveKeys> make_keys(const BenchFolder& folder) {
  const std::string keys = folder.path() + "/keys";
  if (Status made = CurveKeys::create(keys); !made) return pass(made);
  return CurveKeys::read(keys);
}

/// Runs the workloads that the other process names, one a line, until it closes.
void serve_all(const WireBenchOptions& options, const CurveKeys& keys, const Lines& lines) {
  for (std::string line = lines.read(); !line.empty(); line = lines.read()) {
    const bool raw = line[0] == 'r';
    const CurveKeys* with = line[1] == 'k' ? &keys : nullptr;
    (raw ? serve_raw : serve)(line.substr(2), options, with, lines);
  }
}

constexpr std::size_t kSmall = 64;

/// Batches in flight, as many as with actors; more would only make the memory cold.
constexpr int kBatchesOnTheirWay = 16;

zmq::socket_type type_of(const std::string& what, bool serves) {
  if (what == "req") return serves ? zmq::socket_type::rep : zmq::socket_type::req;
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

void send_batches(zmq::socket_t& socket, const WireBenchOptions& options) {
  std::vector<std::byte> bytes(options.frame_bytes);
  for (std::uint64_t i = 0; i < options.batches; ++i) {
    for (std::size_t frame = 0; frame < options.frames; ++frame) {
      const bool last = frame + 1 == options.frames;
      socket.send(zmq::message_t(bytes.data(), bytes.size(), &keep),
                  last ? zmq::send_flags::none : zmq::send_flags::sndmore);
    }
  }
}

}  // namespace

Result<std::vector<BenchResult>> run_wire_bench(const WireBenchOptions& options,
                                                const Clock& clock) {
  auto folder = BenchFolder::make();
  if (!folder) return pass(folder);
  auto keys = make_keys(*folder);
  if (!keys) return pass(keys);
  auto other = BenchProcess::start([&](const Lines& lines) { serve_all(options, *keys, lines); });
  if (!other) return pass(other);
  const Lines& lines = other->lines();
  std::map<std::string, std::vector<double>> ours;
  std::map<std::string, std::vector<double>> raw;
  for (int round = 0; round < options.rounds && !options.stopped(); ++round) {
    for (const Row& row : rows()) {
      if (!options.only.empty() && options.only != row.name) continue;
      const CurveKeys* with = row.with_keys ? &*keys : nullptr;
      const std::string mode = (with != nullptr ? "k" : "-") + row.what;
      lines.write("r" + mode);
      raw[row.name].push_back(
          figure(row, options, time_raw(row.what, options, with, lines, clock)));
      lines.write("o" + mode);
      ours[row.name].push_back(
          figure(row, options, time_ours(row.what, options, with, lines, clock)));
    }
  }
  std::vector<BenchResult> results;
  for (const Row& row : rows()) {
    if (ours[row.name].empty()) continue;
    const double value = median(ours[row.name]);
    const double limit = median(raw[row.name]);
    results.push_back({row.name, value, row.unit, limit, value / limit});
  }
  return results;
}

void serve_raw(const std::string& what, const WireBenchOptions& options, const CurveKeys* keys,
               const BenchProcess::Lines& lines) {
  zmq::context_t context;
  zmq::socket_t socket(context, type_of(what, true));
  socket.set(zmq::sockopt::linger, 0);
  if (what == "batches") socket.set(zmq::sockopt::rcvhwm, kBatchesOnTheirWay);
  if (keys != nullptr) {
    socket.set(zmq::sockopt::curve_server, true);
    socket.set(zmq::sockopt::curve_secretkey, *keys->server_secret);
  }
  socket.bind("tcp://127.0.0.1:*");
  lines.write(socket.get(zmq::sockopt::last_endpoint));
  if (what == "push") take_all(socket, options.tells);
  if (what == "batches") take_all(socket, options.batches);
  zmq::message_t message;
  for (std::uint64_t i = 0; what == "req" && i < options.asks; ++i) {
    static_cast<void>(socket.recv(message));
    socket.send(message, zmq::send_flags::none);
  }
  lines.write("done");
  lines.read();
}

double time_raw(const std::string& what, const WireBenchOptions& options, const CurveKeys* keys,
                const BenchProcess::Lines& lines, const Clock& clock) {
  const std::string endpoint = lines.read();
  zmq::context_t context;
  zmq::socket_t socket(context, type_of(what, false));
  if (what == "batches") socket.set(zmq::sockopt::sndhwm, kBatchesOnTheirWay);
  if (keys != nullptr) {
    socket.set(zmq::sockopt::curve_serverkey, keys->server_public);
    socket.set(zmq::sockopt::curve_publickey, keys->client->public_key);
    socket.set(zmq::sockopt::curve_secretkey, keys->client->secret_key);
  }
  socket.connect(endpoint);
  const std::string small(kSmall, 'x');
  const auto start = clock.now();
  if (what == "batches") send_batches(socket, options);
  for (std::uint64_t i = 0; what == "push" && i < options.tells; ++i) {
    socket.send(zmq::buffer(small), zmq::send_flags::none);
  }
  zmq::message_t answer;
  for (std::uint64_t i = 0; what == "req" && i < options.asks; ++i) {
    socket.send(zmq::buffer(small), zmq::send_flags::none);
    static_cast<void>(socket.recv(answer));
  }
  lines.read();
  const auto took = clock.now() - start;
  lines.write("go on");
  return in_seconds(took);
}

}  // namespace forebay
