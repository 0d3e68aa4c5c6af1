#include "trainer/collective.h"

#include <csignal>
#include <numeric>
#include <thread>

#include "core/net/host_port.h"
#include "tests/support/thread_collective.h"
#include "trainer/torch/module_functions.h"

#include "tests/support/catch.h"

using namespace forebay;

namespace {

using Ranks = std::vector<std::unique_ptr<Collective>>;

/// Runs `work(rank)` on a thread for each rank; returns the results.
template <class Work>
auto on_each(std::size_t size, const Work& work) {
  std::vector<decltype(work(0))> results(size);
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] { results[rank] = work(rank); });
  }
  for (std::thread& thread : threads) thread.join();
  return results;
}

struct Threads {
  static Ranks make(int size, std::chrono::milliseconds timeout = std::chrono::seconds(20)) {
    return test::ThreadCollective::make(size, timeout);
  }
};

/// A process group for each thread, as if each were a process.
struct Gloo {
  static Ranks make(int size, std::chrono::milliseconds timeout = std::chrono::seconds(20)) {
    // Gloo writes to sockets that the other rank may have closed; the program ignores the signal.
    std::signal(SIGPIPE, SIG_IGN);
    const std::uint16_t port = free_port().value();
    Ranks ranks = on_each(static_cast<std::size_t>(size), [&](std::size_t rank) {
      CollectiveSpec spec{.rank = static_cast<int>(rank),
                          .size = size,
                          .port = port,
                          .opens_store = rank == 0,
                          .group = "test",
                          .timeout = timeout};
      auto made = open_c10d_store(spec).value()->connect();
      return made ? std::move(*made) : nullptr;
    });
    for (const auto& rank : ranks) REQUIRE(rank != nullptr);
    return ranks;
  }
};

}  // namespace

TEMPLATE_TEST_CASE("every rank gets the sum over the ranks", "[trainer][ranks]", Threads, Gloo) {
  const int size = GENERATE(2, 3);
  auto ranks = TestType::make(size);
  const auto sums = on_each(ranks.size(), [&](std::size_t rank) {
    std::vector<float> values(1000);
    std::iota(values.begin(), values.end(), static_cast<float>(rank) * 1000);
    std::vector<float> small{static_cast<float>(rank + 1)};
    auto first = ranks[rank]->start_all_reduce(values);
    auto second = ranks[rank]->start_all_reduce(small);
    if (!second->wait() || !first->wait()) return std::vector<float>();
    values.push_back(small[0]);
    return values;
  });
  for (const auto& sum : sums) {
    REQUIRE(sum.size() == 1001);
    // Σ over r of (1000 r + i): with two ranks 1000 + 2 i, with three 3000 + 3 i.
    CHECK(sum[7] == (size == 2 ? 1014.0f : 3021.0f));
    CHECK(sum[1000] == (size == 2 ? 3.0f : 6.0f));
    CHECK(sum == sums[0]);
  }
}

TEMPLATE_TEST_CASE("an exchange gives each rank the data that the others sent to it",
                   "[trainer][ranks]", Threads, Gloo) {
  // Rank r sends 10 r + t bytes of value 16 r + t to rank t: no byte from rank 0 to itself.
  auto ranks = TestType::make(3);
  const auto received = on_each(3, [&](std::size_t rank) {
    std::vector<std::size_t> to(3), from(3);
    std::vector<std::byte> send;
    for (std::size_t other = 0; other < 3; ++other) {
      to[other] = 10 * rank + other;
      from[other] = 10 * other + rank;
      send.insert(send.end(), to[other], static_cast<std::byte>(16 * rank + other));
    }
    std::vector<std::byte> receive(std::accumulate(from.begin(), from.end(), std::size_t{0}));
    auto done = ranks[rank]->start_all_to_all({send, to, receive, from});
    return done->wait() ? receive : std::vector<std::byte>();
  });
  for (std::size_t rank = 0; rank < 3; ++rank) {
    std::vector<std::byte> expected;
    for (std::size_t other = 0; other < 3; ++other) {
      expected.insert(expected.end(), 10 * other + rank, static_cast<std::byte>(16 * other + rank));
    }
    CHECK(received[rank] == expected);
  }
}

TEMPLATE_TEST_CASE("an empty exchange succeeds", "[trainer][ranks]", Threads, Gloo) {
  auto ranks = TestType::make(2);
  const auto done = on_each(2, [&](std::size_t rank) {
    const std::vector<std::size_t> none(2);
    return ranks[rank]->start_all_to_all({{}, none, {}, none})->wait() ? 1 : 0;
  });
  CHECK(done == std::vector<int>{1, 1});
}

TEMPLATE_TEST_CASE("every rank gets the bytes that one rank broadcasts", "[trainer][ranks]",
                   Threads, Gloo) {
  auto ranks = TestType::make(3);
  const auto announced = on_each(3, [&](std::size_t rank) {
    std::string text = rank == 1 ? "rank 1 says" : "           ";
    const auto bytes = std::as_writable_bytes(std::span(text));
    return ranks[rank]->broadcast(bytes, 1) ? text : std::string();
  });
  CHECK(announced == std::vector<std::string>(3, "rank 1 says"));
}

TEMPLATE_TEST_CASE("all ranks receive each rank's value", "[trainer][ranks]", Threads, Gloo) {
  auto ranks = TestType::make(3);
  const auto heard = on_each(3, [&](std::size_t rank) {
    return all_gather(*ranks[rank], std::string(rank * 2, 'x')).value();
  });
  CHECK(heard == std::vector(3, std::vector<std::string>{"", "xx", "xxxx"}));

  SECTION("a value above the limit is refused") {
    const auto refused = on_each(3, [&](std::size_t rank) {
      return all_gather(*ranks[rank], std::string(rank * 2, 'x'), 3).error().message;
    });
    CHECK(refused[0] == "rank 2 has 4 bytes to say, above 3");
    CHECK(refused[2] == refused[0]);
  }
}

TEMPLATE_TEST_CASE("a rank that ends fails the operations that others wait for", "[trainer][ranks]",
                   Threads, Gloo) {
  auto ranks = TestType::make(2);
  const auto ended = on_each(2, [&](std::size_t rank) {
    if (rank == 1) {
      ranks[1].reset();
      return Code::kUnavailable;
    }
    std::vector<float> values(10);
    auto waited = ranks[0]->start_all_reduce(values)->wait();
    return waited ? Code::kInvalid : waited.error().code;
  });
  CHECK(ended[0] == Code::kUnavailable);
}

TEMPLATE_TEST_CASE("waiting for a rank ends when the rank is known to be lost", "[trainer][ranks]",
                   Threads, Gloo) {
  auto ranks = TestType::make(2, std::chrono::minutes(10));
  std::vector<float> values(10);
  auto pending = ranks[0]->start_all_reduce(values);
  std::thread other([&] { ranks[0]->abandon("rank 1 was lost"); });
  const Status waited = pending->wait();
  other.join();
  REQUIRE_FALSE(waited);
  CHECK(waited.error().code == Code::kUnavailable);
  CHECK(waited.error().message == "rank 1 was lost");
  ranks[0]->abandon("another reason");
  const auto again = sum_over_ranks(*ranks[0], 0);
  REQUIRE_FALSE(again);
  CHECK(again.error().code == Code::kUnavailable);
  ranks[1].reset();  // Gloo's own thread still waits for it.
}

TEMPLATE_TEST_CASE("waiting for a silent rank ends after its timeout", "[trainer][ranks]", Threads,
                   Gloo) {
  // Long enough for both to meet on a busy machine.
  auto ranks = TestType::make(2, std::chrono::seconds(8));
  CHECK_FALSE(sum_over_ranks(*ranks[0], 0));
}

TEST_CASE("ranks do not meet until all of them connect", "[trainer][ranks]") {
  const CollectiveSpec spec{.rank = 0,
                            .size = 2,
                            .port = free_port().value(),
                            .opens_store = true,
                            .timeout = std::chrono::milliseconds(300)};
  auto made = open_c10d_store(spec).value()->connect();
  REQUIRE_FALSE(made);
  CHECK(made.error().message.starts_with("the ranks do not meet at 127.0.0.1:"));
}
