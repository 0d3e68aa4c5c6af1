#include "core/base/thread/user_code.h"

#include <memory>
#include <string>
#include <vector>

#include "tests/support/catch.h"

namespace forebay {
namespace {

std::vector<std::string> loaded() {
  std::vector<std::string> names;
  for (const UserCode* code = UserCode::first(); code != nullptr; code = code->next()) {
    if (code->loaded()) names.emplace_back(code->name());
  }
  return names;
}

class Notes final : public UserCodeObserver {
 public:
  Notes() { begin_observing(); }
  ~Notes() override { end_observing(); }
  bool entered(const UserCode& code) override {
    all.push_back(std::string("in ") + code.name());
    return true;
  }
  void left(const UserCode& code) override { all.push_back(std::string("out ") + code.name()); }

  std::vector<std::string> all;
};

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a thread publishes the user code that it runs, the innermost of it",
          "[core][user_code]") {
  const UserCode outer("f of a.so");
  const UserCode inner("g of b.so");
  CHECK(InUserCode::here() == nullptr);
  {
    const InUserCode first(outer);
    CHECK(InUserCode::here() == &outer);
    {
      const InUserCode second(inner);
      CHECK(InUserCode::here() == &inner);
    }
    CHECK(InUserCode::here() == &outer);
  }
  CHECK(InUserCode::here() == nullptr);
}

TEST_CASE("control characters of a name cannot reach a terminal", "[core][user_code]") {
  CHECK(std::string(UserCode("f of \x1b[2Ja\nb\x7f.so").name()) == R"(f of \x1b[2Ja\nb\x7f.so)");
}

TEST_CASE("functions are listed once each, as long as one user of theirs lives",
          "[core][user_code]") {
  REQUIRE(loaded().empty());
  {
    const UserCode::Loaded f("f");
    const UserCode::Loaded g("g");
    CHECK(loaded() == Names{"f", "g"});
    CHECK(g.code().number() == f.code().number() + 1);
    {
      const UserCode::Loaded again("f");
      CHECK(&again.code() == &f.code());
      CHECK(loaded() == Names{"f", "g"});
    }
    CHECK(loaded() == Names{"f", "g"});
  }
  CHECK(loaded().empty());
  CHECK(UserCode("f").number() == UserCode::kUnlisted);
}

TEST_CASE("observers see threads enter and leave, until they end", "[core][user_code]") {
  const UserCode code("f");
  {
    Notes notes;
    {
      const InUserCode here(code);
      CHECK(notes.all == Names{"in f"});
    }
    CHECK(notes.all == Names{"in f", "out f"});
  }
  const InUserCode unobserved(code);
}

TEST_CASE("of more observers than a process has places for, the first see the calls",
          "[core][user_code]") {
  const UserCode code("f");
  std::vector<std::unique_ptr<Notes>> many(40);
  for (auto& notes : many) notes = std::make_unique<Notes>();
  { const InUserCode here(code); }
  CHECK(many[31]->all == Names{"in f", "out f"});
  CHECK(many[32]->all.empty());
  many.clear();
  Notes later;
  { const InUserCode here(code); }
  CHECK(later.all == Names{"in f", "out f"});
}

}  // namespace forebay
