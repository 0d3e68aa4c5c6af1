#include "core/net/zmq/zmq_waiting_work.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/core/net/transport_side.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;
using namespace test;

bool never() { return false; }

/// Records on which thread messages arrive, and which of them are said to run actors there.
class ThreadsHandler final : public TransportHandler {
 public:
  explicit ThreadsHandler(std::shared_ptr<WaitingWork> work) : waiting_work_(std::move(work)) {}

  void on_peer_up(PeerId peer, const PeerInfo&) override {
    peer_ = peer;
    waiting_work_->look_again();
  }
  void on_peer_down(PeerId, const Error&) override {}
  void on_message(PeerId, std::span<const std::byte>, Frames) override {
    {
      const std::lock_guard lock(mutex_);
      threads_.push_back(std::this_thread::get_id());
    }
    waiting_work_->look_again();
  }
  void on_messages(const std::function<void()>& deliver) override {
    {
      const std::lock_guard lock(mutex_);
      running_.push_back(std::this_thread::get_id());
    }
    deliver();
  }

  PeerId peer() const { return peer_; }
  std::size_t num_messages() const {
    const std::lock_guard lock(mutex_);
    return threads_.size();
  }
  bool took(std::thread::id thread) const {
    const std::lock_guard lock(mutex_);
    return std::ranges::find(threads_, thread) != threads_.end();
  }
  bool ran(std::thread::id thread) const {
    const std::lock_guard lock(mutex_);
    return std::ranges::find(running_, thread) != running_.end();
  }

 private:
  const std::shared_ptr<WaitingWork> waiting_work_;
  mutable std::mutex mutex_;
  std::vector<std::thread::id> threads_;
  std::vector<std::thread::id> running_;
  std::atomic<PeerId> peer_{PeerId::kNone};
};

/// A server, and a client whose threads help it.
struct Helped {
  explicit Helped(ZmqTransport::Options options = quick())
      : server(options),
        made(ZmqTransport::make(std::move(options), system_clock())),
        work(made->waiting_work()),
        handler(work) {
    made->start(handler);
    REQUIRE(made->connect(server.transport.listen("127.0.0.1:0").value()));
    client = server.peer();
    work->help_until([&] { return handler.peer() != PeerId::kNone; });
  }
  ~Helped() { made->stop(); }

  Side server;
  const std::unique_ptr<ZmqTransport> made;
  const std::shared_ptr<WaitingWork> work;
  ThreadsHandler handler;
  PeerId client = PeerId::kNone;
};

TEST_CASE("a thread that waits takes messages itself, and runs no actors", "[core][net]") {
  Helped pair;
  const auto me = std::this_thread::get_id();
  for (std::size_t i = 1; i <= 1000 && !pair.handler.took(me); ++i) {
    REQUIRE(pair.server.tell(pair.client, "hello"));
    pair.work->help_until([&] { return pair.handler.num_messages() == i; });
    REQUIRE(pair.handler.num_messages() == i);
  }
  CHECK(pair.handler.took(me));
  CHECK_FALSE(pair.handler.ran(me));
}

TEST_CASE("a helping thread lets the transport do all of its work", "[core][net]") {
  ZmqTransport::Options options = quick();
  options.heartbeat = 20ms;
  Helped pair(options);
  std::atomic<bool> done = false;
  std::thread thread([&] { pair.work->help_until([&] { return done.load(); }); });
  // Sends of other threads, one by one and in a stream; orders; heartbeats.
  std::size_t told = 0;
  for (; told < 20; ++told) {
    REQUIRE(pair.made->send(pair.handler.peer(), Lane::kControl, bytes_of_text("one"), {}));
    CHECK(pair.server.handler.wait_messages(told + 1).messages.size() == told + 1);
  }
  for (; told < 5000; ++told) {
    REQUIRE(pair.made->send(pair.handler.peer(), Lane::kControl, bytes_of_text("many"), {}));
  }
  CHECK(pair.server.handler.wait_messages(told).messages.size() == told);
  Side late(options);
  REQUIRE(late.transport.connect(pair.made->listen("127.0.0.1:0").value()));
  late.peer();
  CHECK(pair.server.wait_counts([](const TransportCounts& counts) { return counts.beats > 20; }));
  CHECK(pair.server.transport.counts().lost == 0);
  done = true;
  pair.work->look_again();
  thread.join();
}

TEST_CASE("a message that a peer does not take yet is sent though a thread helps", "[core][net]") {
  Helped pair;
  std::atomic<bool> done = false;
  std::thread thread([&] { pair.work->help_until([&] { return done.load(); }); });
  const std::string large(1'000'000, 'x');
  for (int i = 0; i < 300; ++i) {
    REQUIRE(pair.made->send(pair.handler.peer(), Lane::kBulk, bytes_of_text("large"),
                            {test::frame_of(large)}));
  }
  CHECK(pair.server.handler.wait_messages(300).messages.size() == 300);
  done = true;
  pair.work->look_again();
  thread.join();
}

TEST_CASE("a helping thread looks again when it is told to", "[core][net]") {
  Helped pair;
  for (int i = 0; i < 200; ++i) {
    std::atomic<bool> done = false;
    std::thread other([&] {
      done = true;
      pair.work->look_again();
    });
    pair.work->help_until([&] { return done.load(); });
    CHECK(done);
    other.join();
  }
}

TEST_CASE("only one thread helps, and none after the end", "[core][net]") {
  Helped pair;
  std::atomic<bool> helps = false;
  std::thread first([&] {
    pair.work->help_until([&] {
      helps = true;
      return false;
    });
  });
  while (!helps) std::this_thread::yield();
  pair.work->help_until(never);  // Returns at once.
  pair.made->stop();             // Returns, and so does the first.
  first.join();
  pair.work->help_until(never);
  pair.work->look_again();
}

TEST_CASE("a callback that waits does not work in its own place", "[core][net]") {
  class Waiting final : public TransportHandler {
   public:
    explicit Waiting(std::shared_ptr<WaitingWork> work) : waiting_work_(std::move(work)) {}
    void on_peer_up(PeerId, const PeerInfo&) override {
      waiting_work_->help_until(never);  // Returns at once.
      up = true;
      waiting_work_->look_again();
    }
    void on_peer_down(PeerId, const Error&) override {}
    void on_message(PeerId, std::span<const std::byte>, Frames) override {}
    std::atomic<bool> up = false;

   private:
    const std::shared_ptr<WaitingWork> waiting_work_;
  };
  Side server;
  const auto made = ZmqTransport::make({}, system_clock());
  Waiting handler(made->waiting_work());
  made->start(handler);
  REQUIRE(made->connect(server.transport.listen("127.0.0.1:0").value()));
  SECTION("on the transport's thread") { server.peer(); }
  SECTION("on a thread that helps") {}
  while (!handler.up) made->waiting_work()->help_until([&] { return handler.up.load(); });
  made->stop();
}

}  // namespace

TEST_CASE("a transport's own thread waits behind a helping thread that waits", "[core][net]") {
  ZmqWaitingWork work([](const std::function<bool()>&) {});
  work.wait_behind(1h);  // Nobody waits: returns at once.
  CHECK_FALSE(work.waits([] { return true; }));
  work.wait_behind(1h);
  REQUIRE(work.waits(never));
  work.wait_behind(1ms);  // Returns because the time is over.
  for (int i = 0; i < 200; ++i) {
    REQUIRE(work.waits(never));
    std::atomic<bool> starts = false;
    std::atomic<bool> awake = false;
    bool was_awake = false;
    std::thread own([&] {
      starts = true;
      work.wait_behind(1h);
      was_awake = awake;
    });
    while (!starts) std::this_thread::yield();
    awake = true;
    work.woke();
    own.join();
    CHECK(was_awake);
  }
}

TEST_CASE("nothing of a transport is used after its end", "[core][net]") {
  int worked = 0;
  ZmqWaitingWork work([&](const std::function<bool()>&) { ++worked; });
  work.help_until(never);
  CHECK(worked == 1);
  work.end();
  work.help_until(never);
  CHECK(worked == 1);
}

}  // namespace forebay
