#include "core/base/thread_group.h"

#include <unistd.h>

#include <utility>

namespace forebay {
namespace {

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): each thread has its own.
thread_local std::shared_ptr<ThreadGroup> group_here;

}  // namespace

ThreadGroup::Member::Member(std::shared_ptr<ThreadGroup> group)
    : before_(std::exchange(group_here, std::move(group))) {
  if (group_here) group_here->add(::gettid());
}

ThreadGroup::Member::~Member() {
  if (group_here) group_here->remove(::gettid());
  group_here = std::move(before_);
}

std::shared_ptr<ThreadGroup> ThreadGroup::current() { return group_here; }

std::set<pid_t> ThreadGroup::threads() const {
  const std::lock_guard lock(mutex_);
  return {threads_.begin(), threads_.end()};
}

void ThreadGroup::add(pid_t thread) {
  const std::lock_guard lock(mutex_);
  threads_.insert(thread);
}

void ThreadGroup::remove(pid_t thread) {
  const std::lock_guard lock(mutex_);
  threads_.extract(thread);
}

}  // namespace forebay
