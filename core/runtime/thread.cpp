#include "core/runtime/thread.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include <limits.h>

#include "core/base/check.h"

namespace forebay {
namespace {

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

Thread::Thread(const Options& options, std::function<void()> body)
    : group_(ThreadGroup::current()), body_(std::move(body)) {
  pthread_attr_t attributes;
  FOREBAY_CHECK(pthread_attr_init(&attributes) == 0);
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t least =
      std::max(options.stack_bytes, static_cast<std::size_t>(PTHREAD_STACK_MIN));
  FOREBAY_CHECK(pthread_attr_setstacksize(&attributes, (least + page - 1) / page * page) == 0);
  const int error = pthread_create(&handle_, &attributes, &Thread::enter, this);
  pthread_attr_destroy(&attributes);
  if (error != 0) throw NoThread(options.name, error);
  pthread_setname_np(handle_, fitting_name(options.name).c_str());
}

Thread::~Thread() { FOREBAY_CHECK(pthread_join(handle_, nullptr) == 0); }

void* Thread::enter(void* self) {
  auto& thread = *static_cast<Thread*>(self);
  const ThreadGroup::Member member(std::move(thread.group_));
  thread.body_();
  return nullptr;
}

}  // namespace forebay
