#include "core/base/start_thread.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <vector>

#include "core/base/check.h"

namespace forebay {
namespace {

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): each thread has its own.
thread_local std::shared_ptr<ThreadGroup> group_here;

constexpr std::size_t kStack = 256 << 10;

std::string why_and_what_to_do(int error) {
  return std::generic_category().message(error) +
         "; the limit of processes (ulimit -u, or pids.max of the container) or of memory (ulimit "
         "-v) is reached: raise it, or give the run fewer actors and CPUs";
}

void* wait_for_gate(void* gate) {
  static_cast<const std::atomic<bool>*>(gate)->wait(false);
  return nullptr;
}

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

NoThread::NoThread(std::string_view wanted_for, int error)
    : std::runtime_error("no thread can be started for " + std::string(wanted_for) + ": " +
                         why_and_what_to_do(error)) {}

Status check_threads(std::size_t count, std::string_view wanted_for) {
  pthread_attr_t attributes;
  FOREBAY_CHECK(pthread_attr_init(&attributes) == 0);
  FOREBAY_CHECK(pthread_attr_setstacksize(&attributes, kStack) == 0);
  std::atomic<bool> gate{false};
  std::vector<pthread_t> started;
  started.reserve(count);
  int error = 0;
  while (error == 0 && started.size() < count) {
    pthread_t thread{};
    error = pthread_create(&thread, &attributes, &wait_for_gate, &gate);
    if (error == 0) started.push_back(thread);
  }
  pthread_attr_destroy(&attributes);
  gate = true;
  gate.notify_all();
  for (const pthread_t thread : started) pthread_join(thread, nullptr);
  if (error == 0) return {};
  return fail(Code::kUnavailable, std::string(wanted_for) + " needs " + std::to_string(count) +
                                      " threads, and only " + std::to_string(started.size()) +
                                      " can be started: " + why_and_what_to_do(error));
}

}  // namespace forebay
