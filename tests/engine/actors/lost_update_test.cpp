// Finds a lost update by seeds: two adders read a total, and write it back with 1 more, as if no
// other message could come between. docs/actors.md shows this test.
#include <chrono>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>

#include <forebay/testing.h>

#include "tests/support/catch.h"

namespace lost_update {

using namespace forebay::actors;  // NOLINT(google-build-using-namespace)
using namespace std::chrono_literals;

struct Read {
  static constexpr std::string_view kTag = "lost_update/read";
  using Reply = int;
  static auto fields(auto&) { return std::tie(); }
};
struct Write {
  static constexpr std::string_view kTag = "lost_update/write";
  int total = 0;
  static auto fields(auto& self) { return std::tie(self.total); }
};
struct Store : Actor<Store, Read, Write> {
  int on(const Read&) const { return total; }
  void on(const Write& write) { total = write.total; }
  int total = 0;
};

struct Add {
  static constexpr std::string_view kTag = "lost_update/add";
  static auto fields(auto&) { return std::tie(); }
};
struct Adder : Actor<Adder, Add> {
  explicit Adder(Store::Ref where) : store(std::move(where)) {}
  void on(const Add&, Context& context) {
    context.then(store.ask(Read{}, 1s), [this](Result<int> now) {
      if (now) CHECK(store.tell(Write{*now + 1}));  // Wrong: another may have written since.
    });
  }
  Store::Ref store;
};

bool both_are_counted(std::uint64_t seed) {
  TestSystem system(seed);
  const auto store = system.spawn<Store>({.name = "store"});
  for (int i = 0; i < 2; ++i) CHECK(system.spawn<Adder>({.name = "adder"}, store).tell(Add{}));
  system.run();
  return *system.wait(store.ask(Read{}, 1s)) == 2;
}

TEST_CASE("seeds find a lost update, and each finds it again", "[actors][testing]") {
  const auto seed = first_failing_seed(100, both_are_counted);
  REQUIRE(seed);
  CHECK_FALSE(both_are_counted(*seed));
  int sound = 0;
  for (std::uint64_t one = 1; one <= 100; ++one) sound += both_are_counted(one) ? 1 : 0;
  CHECK(sound > 0);  // Other orders hide the mistake.
}

}  // namespace lost_update
