// The actors of actors_cluster_test.py.
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include <forebay/cluster.h>

namespace counting {

using forebay::actors::Context;
using forebay::actors::Future;
using forebay::actors::Promise;
using forebay::actors::Ref;

struct Add {
  static constexpr std::string_view kTag = "counting/add";
  int count = 0;
  static auto fields(auto& self) { return std::tie(self.count); }
};
struct Total {
  static constexpr std::string_view kTag = "counting/total";
  using Reply = int;
  static auto fields(auto&) { return std::tie(); }
};
/// Answered never.
struct Wait {
  static constexpr std::string_view kTag = "counting/wait";
  using Reply = int;
  static auto fields(auto&) { return std::tie(); }
};
struct Throw {
  static constexpr std::string_view kTag = "counting/throw";
  static auto fields(auto&) { return std::tie(); }
};
/// Ends the whole process.
struct Crash {
  static constexpr std::string_view kTag = "counting/crash";
  static auto fields(auto&) { return std::tie(); }
};
/// Sends the total to another actor.
struct SendTotal {
  static constexpr std::string_view kTag = "counting/send_total";
  Ref<Add> to;
  static auto fields(auto& self) { return std::tie(self.to); }
};

/// Answered when the total is kept.
struct Keep {
  static constexpr std::string_view kTag = "counting/keep";
  static auto fields(auto&) { return std::tie(); }
};

/// Keeps the actor busy, in turns of 20 ms.
struct Spin {
  static constexpr std::string_view kTag = "counting/spin";
  int milliseconds = 0;
  static auto fields(auto& self) { return std::tie(self.milliseconds); }
};

/// Blocks the actor's thread until there is a file "unblock" in the process's folder.
struct Block {
  static constexpr std::string_view kTag = "counting/block";
  static auto fields(auto&) { return std::tie(); }
};

struct Counter : forebay::actors::Actor<Counter, Add, Total, Wait, Throw, Crash, SendTotal, Keep,
                                        Spin, Block> {
  explicit Counter(int from) : total(from) {
    if (from < 0) throw std::runtime_error("a counter does not begin below 0");
  }
  void on(const Add& add) { total += add.count; }
  int on(const Total&) { return total; }
  Future<int> on(const Wait&) { return waiting.emplace_back().future(); }
  void on(const Throw&) { throw std::runtime_error("told to throw"); }
  void on(const Crash&) { std::abort(); }
  void on(const Spin& spin, Context& context) {
    std::promise<void>().get_future().wait_for(std::chrono::milliseconds(20));
    if (spin.milliseconds > 20) (void)self(context).tell(Spin{spin.milliseconds - 20});
  }
  void on(const Block&) {
    while (!std::filesystem::exists("unblock")) {
      std::promise<void>().get_future().wait_for(std::chrono::milliseconds(20));
    }
  }
  Future<std::monostate> on(const Keep&, Context& context) { return keep(context); }
  int save() const { return total; }
  void load(int kept) { total = kept; }
  void on(const SendTotal& send) { (void)send.to.tell(Add{total}); }

  int total;
  std::vector<Promise<int>> waiting;
};

using Bytes = std::vector<std::byte>;

inline Bytes bytes_of_ones(int mib) {
  return Bytes(static_cast<std::size_t>(mib) << 20, std::byte{1});
}

/// Answered when the actor has the reference.
struct Take {
  static constexpr std::string_view kTag = "counting/take";
  forebay::actors::Object<Bytes> object;
  static auto fields(auto& self) { return std::tie(self.object); }
};
/// Makes an object of so many MiB, which this actor does not keep.
struct Make {
  static constexpr std::string_view kTag = "counting/make";
  using Reply = forebay::actors::Object<Bytes>;
  int mib = 0;
  static auto fields(auto& self) { return std::tie(self.mib); }
};
/// The sum of the object's bytes.
struct Sum {
  static constexpr std::string_view kTag = "counting/sum";
  using Reply = int;
  static auto fields(auto&) { return std::tie(); }
};

/// A number, and bytes in the message itself.
struct Fill {
  static constexpr std::string_view kTag = "counting/fill";
  int number = 0;
  Bytes bytes;
  static auto fields(auto& self) { return std::tie(self.number, self.bytes); }
};
/// The numbers that came with bytes of ones.
struct Filled {
  static constexpr std::string_view kTag = "counting/filled";
  using Reply = std::vector<int>;
  static auto fields(auto&) { return std::tie(); }
};
/// So many MiB in the answer itself.
struct Whole {
  static constexpr std::string_view kTag = "counting/whole";
  using Reply = Bytes;
  int mib = 0;
  static auto fields(auto& self) { return std::tie(self.mib); }
};

inline int sum_of(const auto& bytes) {
  int sum = 0;
  for (const std::byte value : bytes) sum += static_cast<int>(value);
  return sum;
}

/// Holds a reference to one object.
struct Holder : forebay::actors::Actor<Holder, Take, Make, Sum, Fill, Filled, Whole> {
  explicit Holder(int /*unused*/) {}
  void on(const Take& take) { object = take.object; }
  forebay::actors::Result<forebay::actors::Object<Bytes>> on(const Make& make, Context& context) {
    return context.put(bytes_of_ones(make.mib));
  }
  Future<int> on(const Sum&, Context& context) {
    const Promise<int> sum;
    context.then(object.get(), [sum](forebay::actors::Result<forebay::actors::View<Bytes>> view) {
      if (!view) return sum.set(view.error());
      sum.set(sum_of(*view));
    });
    return sum.future();
  }

  void on(const Fill& fill) {
    const bool is_exact = sum_of(fill.bytes) == static_cast<int>(fill.bytes.size());
    filled.push_back(is_exact ? fill.number : -1);
  }
  std::vector<int> on(const Filled&) { return filled; }
  Bytes on(const Whole& whole) { return bytes_of_ones(whole.mib); }

  forebay::actors::Object<Bytes> object;
  std::vector<int> filled;
};

/// What a node returns for a task: this process's number, after a while.
inline int process_after(int milliseconds) {
  std::promise<void>().get_future().wait_for(std::chrono::milliseconds(milliseconds));
  return static_cast<int>(::getpid());
}
inline forebay::actors::Result<int> half(int number) {
  if (number % 2 == 1) return forebay::actors::Error{forebay::actors::Code::kOverloaded, "odd"};
  if (number == 0) throw std::runtime_error("told to throw");
  return number / 2;
}
/// Nothing to return; fails for an odd number.
inline forebay::actors::Status need_even(int number) {
  if (number % 2 == 1) return forebay::actors::Error{forebay::actors::Code::kOverloaded, "odd"};
  return {};
}
inline std::optional<int> exact_half(int number) {
  return number % 2 == 0 ? std::optional(number / 2) : std::nullopt;
}

}  // namespace counting
