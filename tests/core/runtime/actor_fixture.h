#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/runtime/actor.h"
#include "core/runtime/actor_host.h"

namespace forebay::test {

struct Add {
  static constexpr std::string_view kTag = "test.add/1";
  std::int64_t amount = 0;
  static auto fields(auto& self) { return std::tie(self.amount); }
};

struct Sum {
  static constexpr std::string_view kTag = "test.sum/1";
  using Reply = std::int64_t;
};

/// Cannot be copied, like a split in a message.
struct Cargo {
  static constexpr std::string_view kTag = "test.cargo/1";
  std::unique_ptr<std::int64_t> load;
  std::size_t weight = 0;
};
inline std::size_t bytes_of(const Cargo& cargo) { return cargo.weight; }

struct Break {
  static constexpr std::string_view kTag = "test.break/1";
};

struct Finish {
  static constexpr std::string_view kTag = "test.finish/1";
};

/// Adds the amount when the delay is over.
struct AddLater {
  static constexpr std::string_view kTag = "test.add_later/1";
  std::chrono::nanoseconds delay{0};
  std::int64_t amount = 0;
};

/// Adds up. A negative amount is refused, Break throws, Finish ends it.
class TallyActor final : public ActorOf<TallyActor, Add, AddLater, Sum, Cargo, Break, Finish> {
 public:
  Status on(const Add& add, Context&) {
    if (add.amount < 0) return fail(Code::kInvalid, "a negative amount");
    sum_ += add.amount;
    return {};
  }
  Status on(const AddLater& later, Context& context) {
    context.after(later.delay, Add{later.amount});
    return {};
  }
  Result<std::int64_t> on(const Sum&, Context&) { return sum_; }
  Status on(Cargo&& cargo, Context&) {
    const std::unique_ptr<std::int64_t> load = std::move(cargo.load);
    sum_ += *load;
    return {};
  }
  Status on(const Break&, Context&) { throw std::runtime_error("it broke"); }
  Status on(const Finish&, Context& context) {
    context.stop();
    return {};
  }

 private:
  std::int64_t sum_ = 0;
};

inline auto make_tally() {
  return [] { return std::make_unique<TallyActor>(); };
}

/// Recorded deaths and answers.
struct Notes {
  std::vector<Down> downs;
  std::vector<Answered<Sum>> answers;
};

struct AskSum {
  static constexpr std::string_view kTag = "test.ask_sum/1";
  ActorRef<Sum> of;
  std::uint64_t token = 0;
};

/// Asks for sums with a timeout of a second, and records the answers.
class WitnessActor final : public ActorOf<WitnessActor, AskSum, Answered<Sum>, Down> {
 public:
  explicit WitnessActor(Notes& notes) : notes_(notes) {}

  Status on(const AskSum& order, Context& context) {
    context.ask(order.of, Sum{}, std::chrono::seconds(1), self(context), order.token);
    return {};
  }
  Status on(Answered<Sum>&& answer, Context&) {
    notes_.answers.push_back(std::move(answer));
    return {};
  }
  Status on(Down&& down, Context&) {
    notes_.downs.push_back(std::move(down));
    return {};
  }

 private:
  Notes& notes_;
};

}  // namespace forebay::test
