// The actors of actors_cluster_test.py.
#pragma once

#include <cstdlib>
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

struct Counter : forebay::actors::Actor<Counter, Add, Total, Wait, Throw, Crash, SendTotal, Keep> {
  explicit Counter(int from) : total(from) {
    if (from < 0) throw std::runtime_error("a counter does not begin below 0");
  }
  void on(const Add& add) { total += add.count; }
  int on(const Total&) { return total; }
  Future<int> on(const Wait&) { return waiting.emplace_back().future(); }
  void on(const Throw&) { throw std::runtime_error("told to throw"); }
  void on(const Crash&) { std::abort(); }
  Future<std::monostate> on(const Keep&, Context& context) { return keep(context); }
  int save() const { return total; }
  void load(int kept) { total = kept; }
  void on(const SendTotal& send) { (void)send.to.tell(Add{total}); }

  int total;
  std::vector<Promise<int>> waiting;
};

}  // namespace counting
