#include "core/base/thread/start_thread.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include <limits.h>

#include "core/base/check.h"

namespace forebay {
namespace {

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): each thread has its own.
thread_local std::shared_ptr<ThreadGroup> group_here;

/// Threads that are started and not in their group yet. They have the CPUs of the thread that
/// started them, so a change of a group's CPUs waits for them.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): groups share it.
std::atomic<int> entering{0};

void entered() {
  --entering;
  entering.notify_all();
}

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

constexpr std::size_t kNameLimit = 15;

/// Shortens a name and keeps its number: "transform-stage-12" becomes "transform-st-12".
std::string fitting_name(const std::string& name) {
  if (name.size() <= kNameLimit) return name;
  const std::size_t dash = std::min(name.rfind('-'), name.size());
  const std::string number = name.substr(dash);
  if (number.size() >= kNameLimit) return name.substr(0, kNameLimit);
  return name.substr(0, kNameLimit - number.size()) + number;
}

}  // namespace

ThreadGroup::Member::Member(std::shared_ptr<ThreadGroup> group)
    : before_(std::exchange(group_here, std::move(group))) {
  if (group_here == nullptr) return;
  const std::lock_guard lock(group_here->mutex_);
  group_here->threads_.insert(::gettid());
}

ThreadGroup::Member::~Member() {
  if (group_here != nullptr) {
    const std::lock_guard lock(group_here->mutex_);
    group_here->threads_.extract(::gettid());
  }
  group_here = std::move(before_);
}

std::shared_ptr<ThreadGroup> ThreadGroup::current() { return group_here; }

std::set<pid_t> ThreadGroup::threads() const {
  for (int waiting = entering; waiting > 0; waiting = entering) entering.wait(waiting);
  const std::lock_guard lock(mutex_);
  return {threads_.begin(), threads_.end()};
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

Thread::Thread(const Options& options, std::function<void()> body)
    : group_(ThreadGroup::current()), body_(std::move(body)) {
  pthread_attr_t attributes;
  FOREBAY_CHECK(pthread_attr_init(&attributes) == 0);
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t least =
      std::max(options.stack_bytes, static_cast<std::size_t>(PTHREAD_STACK_MIN));
  FOREBAY_CHECK(pthread_attr_setstacksize(&attributes, (least + page - 1) / page * page) == 0);
  ++entering;
  const int error = pthread_create(&handle_, &attributes, &Thread::enter, this);
  pthread_attr_destroy(&attributes);
  if (error != 0) {
    entered();
    throw NoThread(options.name, error);
  }
  pthread_setname_np(handle_, fitting_name(options.name).c_str());
}

Thread::~Thread() { FOREBAY_CHECK(pthread_join(handle_, nullptr) == 0); }

void* Thread::enter(void* self) {
  auto& thread = *static_cast<Thread*>(self);
  const ThreadGroup::Member member(std::move(thread.group_));
  entered();
  thread.body_();
  return nullptr;
}

}  // namespace forebay
