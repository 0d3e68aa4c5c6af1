#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <forebay/testing.h>

#include "tests/support/catch.h"

namespace forebay::actors {
namespace {

using namespace std::chrono_literals;

struct Add {
  static constexpr std::string_view kTag = "test/add";
  int count = 0;
  static auto fields(auto& self) { return std::tie(self.count); }
};
struct Total {
  static constexpr std::string_view kTag = "test/total";
  using Reply = int;
  static auto fields(auto&) { return std::tie(); }
};
/// Handled after a message to itself: answered later.
struct Late {
  static constexpr std::string_view kTag = "test/late";
  using Reply = int;
  static auto fields(auto&) { return std::tie(); }
};
struct Crash {
  static constexpr std::string_view kTag = "test/crash";
  static auto fields(auto&) { return std::tie(); }
};

struct Counter : Actor<Counter, Add, Total, Late, Crash> {
  explicit Counter(int from = 0) : total(from) {}
  Status on(const Add& add) {
    if (add.count < 0) return Error{Code::kInvalid, "only what is positive can be added"};
    total += add.count;
    return {};
  }
  int on(const Total&) const { return total; }
  Future<int> on(const Late&, Context& context) {
    const Promise<int> promise;
    context.then(self(context).ask(Total{}, 1s),
                 [promise](Result<int> now) { promise.set(std::move(now)); });
    return promise.future();
  }
  void on(const Crash&) { throw std::runtime_error("the counter broke"); }
  int total;
};

struct Keep {
  static constexpr std::string_view kTag = "test/keep";
  static auto fields(auto&) { return std::tie(); }
};
using AdderRef = Ref<Add>;
struct KeptCounts {
  std::vector<int> counts;
  AdderRef other;
  static auto fields(auto& self) { return std::tie(self.counts, self.other); }
};
/// Keeps its numbers when it is asked to.
struct Keeping : Actor<Keeping, Add, Total, Keep, Crash> {
  explicit Keeping(std::size_t bytes, AdderRef to = {}) : padding(bytes), other(std::move(to)) {}
  void on(const Add& add) { counts.push_back(add.count); }
  int on(const Total&) const { return static_cast<int>(counts.size()); }
  Future<std::monostate> on(const Keep&, Context& context) { return keep(context); }
  void on(const Crash&) { throw std::runtime_error("the actor broke"); }
  KeptCounts save() const {
    KeptCounts kept{counts, other};
    kept.counts.resize(counts.size() + padding);
    return kept;
  }
  void load(const KeptCounts& kept) { counts = kept.counts; }
  std::vector<int> counts;
  std::size_t padding;
  AdderRef other;
};

struct Watching : Actor<Watching, Down> {
  explicit Watching(std::vector<Down>* into) : downs(into) {}
  void on(const Down& down) { downs->push_back(down); }
  std::vector<Down>* downs;
};

struct Tick {
  static constexpr std::string_view kTag = "test/tick";
  static auto fields(auto&) { return std::tie(); }
};
struct Ticking : Actor<Ticking, Tick, Total> {
  void on(const Tick&, Context& context) {
    if (++ticks < 3) context.after(10ms, Tick{});
  }
  int on(const Total&) const { return ticks; }
  int ticks = 0;
};

}  // namespace

TEST_CASE("an actor handles what it is told, and answers what it is asked", "[actors]") {
  TestSystem system(1);
  const auto counter = system.spawn<Counter>({.name = "counter"}, 40);
  REQUIRE(counter.tell(Add{2}));
  CHECK(*system.wait(counter.ask(Total{}, 1s)) == 42);
}

TEST_CASE("a deadline or delay without a limit does not expire", "[actors]") {
  constexpr auto kAlways = std::chrono::nanoseconds::max();
  TestSystem system(1);
  const auto counter = system.spawn<Counter>({.name = "counter"}, 40);
  CHECK(*system.wait(counter.ask(Total{}, kAlways)) == 40);
  const auto late = counter.ask(Late{}, kAlways);
  CHECK(*system.wait(late) == 40);
}

TEST_CASE("an error of a handler goes to the asker, else to the host", "[actors]") {
  TestSystem system(1);
  const auto counter = system.spawn<Counter>({.name = "counter"});
  const auto refused = system.wait(counter.ask(Add{-1}, 1s));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Code::kInvalid);
  CHECK(system.unheard().empty());
  REQUIRE(counter.tell(Add{-1}));
  system.run();
  CHECK(system.unheard().size() == 1);
}

TEST_CASE("an answer may come after other messages", "[actors]") {
  TestSystem system(1);
  const auto counter = system.spawn<Counter>({.name = "counter"}, 7);
  CHECK(*system.wait(counter.ask(Late{}, 1s)) == 7);
}

TEST_CASE("an actor that crashes starts anew within its limit, then ends with Down", "[actors]") {
  TestSystem system(1);
  std::vector<Down> downs;
  const auto counter = system.spawn<Counter>({.name = "counter", .restarts = 1}, 5);
  const auto watching = system.spawn<Watching>({.name = "watching"}, &downs);
  counter.target()->watch(watching.target());
  REQUIRE(counter.tell(Add{1}));
  const auto crashed = system.wait(counter.ask(Crash{}, 1s));
  REQUIRE_FALSE(crashed);
  CHECK(crashed.error().message == "the counter broke");
  CHECK(*system.wait(counter.ask(Total{}, 1s)) == 5);  // Fresh: 6 is forgotten.
  CHECK(downs.empty());
  REQUIRE(counter.tell(Crash{}));
  system.run();
  REQUIRE(downs.size() == 1);
  CHECK(downs[0].actor == counter);
  CHECK(downs[0].reason == "the counter broke");
  const auto refused = counter.tell(Add{1});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Code::kNotFound);
}

TEST_CASE("an actor that crashes goes on from the state that it kept last", "[actors][kept]") {
  TestSystem system(1);
  const auto actor = system.spawn<Keeping>({.name = "keeping", .restarts = 9}, std::size_t{0});
  const auto crash = [&] { CHECK_FALSE(system.wait(actor.ask(Crash{}, 1s))); };
  REQUIRE(actor.tell(Add{1}));
  crash();
  CHECK(*system.wait(actor.ask(Total{}, 1s)) == 0);  // Nothing was kept.
  for (int kept = 1; kept <= 2; ++kept) {
    REQUIRE(actor.tell(Add{1}));
    CHECK(system.wait(actor.ask(Keep{}, 1s)));
    REQUIRE(actor.tell(Add{1}));
    crash();
    CHECK(*system.wait(actor.ask(Total{}, 1s)) == kept);
  }
}

TEST_CASE("a state that is too large or holds a reference is not kept", "[actors][kept]") {
  TestSystem system(1);
  const auto counter = system.spawn<Counter>({.name = "counter"});
  const auto large = system.spawn<Keeping>({.name = "large"}, std::size_t{5} << 20);
  const auto refused = system.wait(large.ask(Keep{}, 1s));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Code::kInvalid);
  CHECK(refused.error().message.find("at most 16 MiB") != std::string::npos);
  const auto pointing = system.spawn<Keeping>({.name = "pointing"}, std::size_t{0}, counter);
  CHECK(system.wait(pointing.ask(Keep{}, 1s)).error().code == Code::kInvalid);
}

TEST_CASE("an actor that is stopped handles what waits for it, and ends without a reason",
          "[actors]") {
  TestSystem system(1);
  std::vector<Down> downs;
  const auto counter = system.spawn<Counter>({.name = "counter"});
  const auto watching = system.spawn<Watching>({.name = "watching"}, &downs);
  counter.target()->watch(watching.target());
  const auto total = counter.ask(Total{}, 1s);
  counter.stop();
  CHECK(*system.wait(total) == 0);
  system.run();
  REQUIRE(downs.size() == 1);
  CHECK(downs[0].reason.empty());
}

TEST_CASE("timers fire in simulated time", "[actors]") {
  TestSystem system(1);
  const auto ticking = system.spawn<Ticking>({.name = "ticking"});
  REQUIRE(ticking.tell(Tick{}));
  CHECK(*system.wait(ticking.ask(Total{}, 1h)) == 1);
  system.advance(10ms);
  system.run();
  system.advance(10ms);
  CHECK(*system.wait(ticking.ask(Total{}, 1h)) == 3);
}

TEST_CASE("a mailbox that is full refuses, and a question without an answer ends in time",
          "[actors]") {
  TestSystem system(1);
  const auto counter = system.spawn<Counter>({.name = "counter", .mailbox_bytes = 200});
  REQUIRE(counter.tell(Add{1}));
  REQUIRE(counter.tell(Add{1}));
  const auto refused = counter.tell(Add{1});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Code::kOverloaded);
  const auto empty = Ref<Add>().tell(Add{1});
  REQUIRE_FALSE(empty);
  CHECK(empty.error().code == Code::kNotFound);
}

TEST_CASE("all_of waits for every answer, any_of for the first", "[actors]") {
  TestSystem system(1);
  std::vector<Future<int>> totals;
  std::vector<Future<int>> others;
  for (int i = 0; i < 3; ++i) {
    const auto counter = system.spawn<Counter>({.name = "counter"}, i);
    totals.push_back(counter.ask(Total{}, 1s));
    others.push_back(i == 1 ? counter.ask(Total{}, 1s) : Ref<Total>().ask(Total{}, 1s));
  }
  CHECK(*system.wait(all_of(totals)) == std::vector<int>{0, 1, 2});
  const auto first = system.wait(any_of(others));
  REQUIRE(first);
  CHECK(*first == std::pair<std::size_t, int>(1, 1));
  CHECK_FALSE(system.wait(all_of(std::vector{Ref<Total>().ask(Total{}, 1s)})));
  CHECK_FALSE(system.wait(any_of(std::vector{Ref<Total>().ask(Total{}, 1s)})));
}

namespace {

/// Counts the answers that came while it lived.
struct Waiter : Actor<Waiter, Add, Crash> {
  Waiter(Future<int> awaited, int* count) : answer(std::move(awaited)), resumed(count) {}
  void on(const Add&, Context& context) {
    context.then(answer, [this](const Result<int>&) { ++*resumed; });
  }
  void on(const Crash&) { throw std::runtime_error("the waiter broke"); }
  Future<int> answer;
  int* resumed;
};

}  // namespace

TEST_CASE("an actor that has crashed hears no answer that it waited for before", "[actors]") {
  TestSystem system(1);
  const Promise<int> promise;
  int resumed = 0;
  const auto waiter =
      system.spawn<Waiter>({.name = "waiter", .restarts = 1}, promise.future(), &resumed);
  REQUIRE(waiter.tell(Add{}));
  system.run();
  int expected = 1;
  SECTION("it lives on") {}
  SECTION("it crashes and is made anew") {
    REQUIRE(waiter.tell(Crash{}));
    system.run();
    expected = 0;
  }
  promise.set(7);
  system.run();
  CHECK(resumed == expected);
}

TEST_CASE("a promise that is dropped answers with an error", "[actors]") {
  auto future = Promise<int>().future();
  REQUIRE(future.ready());
  CHECK(future.wait().error().code == Code::kUnavailable);
}

namespace {

/// Brings the answer during the wait, and then ends as if there were no more to do.
struct Bringing final : WaitingWork {
  void help_until(const std::function<bool()>& done) override {
    ++helped;
    CHECK_FALSE(done());
    if (bring) bring();
  }
  void look_again() override { ++looks; }

  std::function<void()> bring;
  int helped = 0;
  int looks = 0;
};

}  // namespace

TEST_CASE("a thread that waits for an answer does the work that brings it", "[actors]") {
  const auto work = std::make_shared<Bringing>();
  const Promise<int> promise(work);
  work->bring = [&] { promise.set(7); };
  CHECK(*promise.future().wait() == 7);
  CHECK(work->helped == 1);
  CHECK(work->looks == 1);  // Whoever helps may not see the answer that another thread sets.
}

TEST_CASE("a thread that waits for several answers does the work that brings them", "[actors]") {
  const auto work = std::make_shared<Bringing>();
  const Promise<int> local;
  const Promise<int> remote(work);
  const std::vector<Future<int>> futures{local.future(), remote.future()};
  work->bring = [&] {
    remote.set(7);
    local.set(6);
  };
  SECTION("for all of them") {
    CHECK(*all_of(futures).wait() == std::vector<int>{6, 7});
    CHECK(work->looks == 1);
  }
  SECTION("for the first of them") {
    CHECK(*any_of(futures).wait() == std::pair<std::size_t, int>(1, 7));
  }
  CHECK(work->helped == 1);
}

TEST_CASE("a thread whose help ends early waits for the answer all the same", "[actors]") {
  const auto work = std::make_shared<Bringing>();
  const Promise<int> promise(work);
  std::thread later;
  work->bring = [&] { later = std::thread([promise] { promise.set(8); }); };
  CHECK(*promise.future().wait() == 8);
  later.join();
  CHECK(work->helped == 1);
}

struct Owns {
  static constexpr std::string_view kTag = "test/owns";
  std::vector<int> numbers;
  std::string text;
  static auto fields(auto& self) { return std::tie(self.numbers, self.text); }
};
struct Wide {
  static constexpr std::string_view kTag = "test/wide";
  std::uint64_t first = 0;
  std::uint64_t others[7] = {};  // Too large to be in place.
  static auto fields(auto& self) { return std::tie(self.first); }
};

TEST_CASE("a box moves what is bytes, what owns memory, and what is large", "[actors]") {
  const auto moved = [](auto value) {
    Box first = Box::of(std::move(value));
    Box second = std::move(first);
    CHECK(first.type() == nullptr);  // NOLINT(bugprone-use-after-move): it is empty then.
    first = std::move(second);
    return first;
  };
  CHECK(moved(Add{7}).as<Add>().count == 7);
  CHECK(moved(Owns{{1, 2}, "a text that is too long to be in place"}).as<Owns>().text ==
        "a text that is too long to be in place");
  Wide wide{.first = 1};
  wide.others[6] = 9;
  CHECK(moved(wide).as<Wide>().others[6] == 9);
}

/// Counts the living copies of what a message owns.
struct Counted {
  static inline int living = 0;
  static constexpr std::string_view kTag = "test/counted";
  std::uint64_t number = 0;
  Counted() { ++living; }
  Counted(Counted&& other) noexcept : number(other.number) { ++living; }
  Counted& operator=(Counted&&) = default;
  ~Counted() { --living; }
  static auto fields(auto& self) { return std::tie(self.number); }
};
struct Taker : Actor<Taker, Counted> {
  void on(const Counted&) {}
};

TEST_CASE("what a message owns is gone when its asker hears of it", "[actors]") {
  TestSystem world(1);
  const auto taker = world.spawn<Taker>({.name = "taker"});
  int living = -1;
  taker.ask(Counted(), 1s).then([&](const Result<std::monostate>&) { living = Counted::living; });
  world.run();
  CHECK(living == 0);
}

struct Sleep {
  static constexpr std::string_view kTag = "test/sleep";
  static auto fields(auto&) { return std::tie(); }
};

/// Sleeps until a system has said something.
struct Sleeper : Actor<Sleeper, Sleep> {
  explicit Sleeper(std::shared_future<std::string> its_line) : line(std::move(its_line)) {}
  void on(const Sleep&) { line.wait(); }

  std::shared_future<std::string> line;
};

TEST_CASE("a system names an actor that blocks a shared thread", "[actors]") {
  std::promise<std::string> first;
  const std::shared_future<std::string> line = first.get_future().share();
  auto system = System::start(
      {.threads = 1, .on_message = [&first, said = false](const std::string& message) mutable {
         if (!std::exchange(said, true)) first.set_value(message);
       }});
  REQUIRE(system);
  const auto sleeper = system->spawn<Sleeper>({.name = "sleeper"}, line);
  REQUIRE(sleeper.tell(Sleep{}));
  CHECK(line.get().rfind("actor sleeper has held the only thread that actors share", 0) == 0);
}

TEST_CASE("actors run on threads, and a system stops in order", "[actors]") {
  auto system = System::start({.threads = 2});
  REQUIRE(system);
  const auto counter = system->spawn<Counter>({.name = "counter"});
  for (int i = 0; i < 1000; ++i) REQUIRE(counter.tell(Add{1}));
  CHECK(*counter.ask(Total{}, 30s).wait() == 1000);
  CHECK(*counter.ask(Late{}, 30s).wait() == 1000);
  for (int i = 0; i < 1000; ++i) REQUIRE(counter.tell(Add{1}));
  const auto total = counter.ask(Total{}, 30s);
  system->stop();
  CHECK(*total.wait() == 2000);
  CHECK(system->num_living() == 0);
  CHECK(counter.tell(Add{1}).error().code == Code::kNotFound);
  CHECK(System::start({.threads = 0}).error().code == Code::kInvalid);
}

}  // namespace forebay::actors
