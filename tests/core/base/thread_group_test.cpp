#include <unistd.h>

#include <latch>
#include <memory>
#include <set>

#include "core/base/thread/start_thread.h"

#include "tests/support/catch.h"

namespace forebay {

TEST_CASE("a thread belongs to the group that it entered, until it leaves it", "[core][threads]") {
  const auto outer = std::make_shared<ThreadGroup>();
  const auto inner = std::make_shared<ThreadGroup>();
  CHECK(ThreadGroup::current() == nullptr);
  {
    const ThreadGroup::Member first(outer);
    CHECK(outer->threads() == std::set<pid_t>{::gettid()});
    {
      const ThreadGroup::Member second(inner);
      CHECK(ThreadGroup::current() == inner);
      CHECK(inner->threads() == std::set<pid_t>{::gettid()});
    }
    CHECK(inner->threads().empty());
    CHECK(ThreadGroup::current() == outer);
  }
  CHECK(outer->threads().empty());
  CHECK(ThreadGroup::current() == nullptr);
}

TEST_CASE("a thread that a member starts is a member, too, as long as it runs", "[core][threads]") {
  const auto group = std::make_shared<ThreadGroup>();
  std::size_t members = 0;
  start_thread("a test", [&] {
    const ThreadGroup::Member member(group);
    start_thread("a test", [&] { members = group->threads().size(); }).join();
  }).join();
  CHECK(members == 2);
  CHECK(group->threads().empty());
}

TEST_CASE("a thread is listed in its group as soon as it is started", "[core][threads]") {
  const auto group = std::make_shared<ThreadGroup>();
  const ThreadGroup::Member member(group);
  for (int i = 0; i < 200; ++i) {
    std::latch end(1);
    const Thread thread({.name = "listed"}, [&] { end.wait(); });
    CHECK(group->threads().size() == 2);
    end.count_down();
  }
}

}  // namespace forebay
