// What a transport does while its handler's work takes long.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/core/net/transport_side.h"
#include "tests/support/wait_until.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;
using namespace test;

/// Each message "work" leaves work, which takes until the test ends it.
class WorkingHandler final : public TransportHandler {
 public:
  void on_peer_up(PeerId peer, const PeerInfo&) override {
    peer_ = peer;
    ++num_up_;
  }
  void on_peer_down(PeerId, const Error&) override { ++num_down_; }
  void on_message(PeerId, std::span<const std::byte> head, Frames) override {
    const std::string text = text_of(head);
    if (text.starts_with("number ") && text != "number " + std::to_string(num_in_order_++)) {
      is_in_order_ = false;
    }
    if (text == "work") has_work_ = true;
    ++num_messages_;
  }
  bool has_work() const override { return has_work_; }
  std::chrono::nanoseconds do_work(bool may_take_long) override {
    has_work_ = false;
    if (!may_take_long) {
      ++num_left_;
      return {};
    }
    std::unique_lock lock(mutex_);
    threads_.push_back(std::this_thread::get_id());
    const std::size_t number = threads_.size();
    ended_.wait(lock, [&] { return num_ended_ >= number; });
    return {};
  }

  std::vector<std::thread::id> threads() const {
    const std::lock_guard lock(mutex_);
    return threads_;
  }
  /// The first `count` pieces of work end.
  void end_work(std::size_t count) {
    const std::lock_guard lock(mutex_);
    num_ended_ = count;
    ended_.notify_all();
  }

  PeerId peer() const { return peer_; }
  int num_up() const { return num_up_; }
  int num_down() const { return num_down_; }
  int num_messages() const { return num_messages_; }
  int num_left() const { return num_left_; }
  bool is_in_order() const { return is_in_order_; }

 private:
  std::atomic<PeerId> peer_{PeerId::kNone};
  std::atomic<int> num_up_ = 0, num_down_ = 0, num_messages_ = 0, num_left_ = 0;
  std::atomic<bool> has_work_ = false, is_in_order_ = true;
  int num_in_order_ = 0;
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  std::vector<std::thread::id> threads_;  // that did work; under mutex_, as the next
  std::size_t num_ended_ = 0;
};

ZmqTransport::Options options() {
  ZmqTransport::Options options = quick();
  options.heartbeat = 20ms;
  return options;
}

/// A transport whose handler works, and a client of it.
struct Working {
  Working() : made(ZmqTransport::make(options(), system_clock())) {
    made->start(handler);
    address = made->listen("127.0.0.1:0").value();
    REQUIRE(client.transport.connect(address));
    server = client.peer();
    wait_until([&] { return handler.num_up() == 1; });
  }
  ~Working() {
    handler.end_work(100);
    made->stop();
  }

  void tell(std::string_view text) { REQUIRE(client.tell(server, text)); }
  /// Has the handler begin work that takes long, for which another thread must stand by.
  void begin_work() {
    while (handler.threads().empty()) {
      const int skipped = handler.num_left();
      tell("work");
      wait_until([&] { return !handler.threads().empty() || handler.num_left() > skipped; });
    }
  }

  WorkingHandler handler;
  const std::unique_ptr<ZmqTransport> made;
  std::string address;
  Side client{options()};
  PeerId server = PeerId::kNone;
};

TEST_CASE("a transport goes on while its handler's work takes long, again and again",
          "[core][net]") {
  Working pair;
  int messages = 0;
  std::size_t work = 0;
  for (std::size_t answers = 1; answers <= 4; ++answers) {
    // Work may take long only when the thread that did the last one stands by again.
    while (pair.handler.threads().size() == work) {
      pair.tell("work");
      ++messages;
      wait_until([&] { return pair.handler.num_messages() == messages; });
    }
    ++work;
    for (int i = 0; i < 10; ++i) pair.tell("hello");
    messages += 10;
    wait_until([&] { return pair.handler.num_messages() == messages; });
    REQUIRE(pair.made->send(pair.handler.peer(), Lane::kControl, bytes_of_text("answer"), {}));
    CHECK(pair.client.handler.wait_messages(answers).messages.size() == answers);
    pair.handler.end_work(work);
  }
  CHECK(pair.client.handler.seen().down.empty());
  const auto threads = pair.handler.threads();
  REQUIRE(threads.size() == 4);
  CHECK(threads[0] != threads[1]);  // They took turns.
}

TEST_CASE("messages of a stream stay in order when another thread goes on in their midst",
          "[core][net]") {
  Working pair;
  constexpr int kNumbers = 5000;
  for (int i = 0; i < kNumbers; ++i) {
    if (i % 100 == 0) pair.tell("work");
    pair.tell("number " + std::to_string(i));
  }
  wait_until([&] { return pair.handler.num_messages() == kNumbers + kNumbers / 100; });
  CHECK(pair.handler.is_in_order());
  CHECK(pair.handler.threads().size() == 1);
}

TEST_CASE("new peers come while the handler's work takes long", "[core][net]") {
  Working pair;
  pair.begin_work();
  Side late(options());
  REQUIRE(late.transport.connect(pair.address));
  late.peer();
  wait_until([&] { return pair.handler.num_up() == 2; });
  CHECK(pair.made->listen("127.0.0.1:0"));
}

TEST_CASE("while no thread stands by, the handler's work is left to others", "[core][net]") {
  Working pair;
  pair.begin_work();
  const int skipped = pair.handler.num_left();
  pair.tell("work");
  wait_until([&] { return pair.handler.num_left() == skipped + 1; });
  CHECK(pair.handler.threads().size() == 1);
}

TEST_CASE("a transport ends its sessions while its handler's work takes long", "[core][net]") {
  Working pair;
  pair.begin_work();
  std::thread stopping([&] { pair.made->stop(); });
  CHECK(pair.client.handler.wait_down(1).down.size() == 1);
  pair.handler.end_work(1);
  stopping.join();
  CHECK(pair.handler.num_down() == 1);
}

}  // namespace
}  // namespace forebay
