#include "core/base/thread/user_code.h"

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <shared_mutex>

#include "core/base/text/printable.h"

namespace forebay {
namespace {

/// A program has two or three observers, the crash handler and the monitor of its run's memory; a
/// process with many loaders has one for each. InUserCode has a bit for each.
constexpr std::size_t kMostObservers = 32;

struct Place {
  UserCodeObserver* observer;
  std::uint64_t since;  // the value of `begins` when the observer began
};

// Process-wide state, because a signal handler must be able to reach it. It is never destroyed,
// since threads may still run while the process ends.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
constinit thread_local const UserCode* code_here = nullptr;
constinit std::atomic<UserCode*> first_listed{nullptr};
constinit std::mutex listing;           // guards changes of the list
constinit std::shared_mutex observing;  // guards `begins` and `observers`
constinit std::uint64_t begins = 0;
constinit std::array<Place, kMostObservers> observers{};
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

/// Replaces the observer `one` by `other`; either may be null. Does nothing where `one` has no
/// place.
void replace_observer(UserCodeObserver* one, UserCodeObserver* other) {
  const std::unique_lock lock(observing);
  const auto place =
      std::ranges::find_if(observers, [one](const Place& each) { return each.observer == one; });
  if (place != observers.end()) *place = {.observer = other, .since = ++begins};
}

}  // namespace

UserCode::UserCode(std::string_view name) : name_(printable_message(name)) {}

const UserCode* UserCode::first() { return first_listed.load(std::memory_order_acquire); }

// Entries are few, one for each function that any job of this process ever named. They are never
// freed, because a signal handler may read them at any moment.
UserCode& UserCode::listed(std::string_view name) {
  const std::lock_guard lock(listing);
  const std::string wanted = printable_message(name);
  std::size_t count = 0;
  std::atomic<UserCode*>* end = &first_listed;
  for (; end->load() != nullptr; end = &end->load()->next_, ++count) {
    if (end->load()->name_ == wanted) return *end->load();
  }
  UserCode* const added = std::make_unique<UserCode>(wanted).release();
  added->number_ = count;
  end->store(added, std::memory_order_release);
  return *added;
}

UserCode::Loaded::Loaded(std::string_view name) : code_(listed(name)) { ++code_.uses_; }
UserCode::Loaded::~Loaded() { --code_.uses_; }

InUserCode::InUserCode(const UserCode& code) : before_(code_here) {
  code_here = &code;
  const std::shared_lock lock(observing);
  entered_at_ = begins;
  for (std::size_t i = 0; i < observers.size(); ++i) {
    if (observers[i].observer != nullptr && observers[i].observer->entered(code)) told_ |= 1U << i;
  }
}

// Skips an observer that began during the call: it was not notified when the call was entered.
InUserCode::~InUserCode() {
  if (told_ != 0) {
    const std::shared_lock lock(observing);
    for (std::size_t i = 0; i < observers.size(); ++i) {
      const auto& [observer, since] = observers[i];
      if ((told_ >> i & 1U) == 0 || observer == nullptr || since > entered_at_) continue;
      observer->left(*code_here);
    }
  }
  code_here = before_;
}

const UserCode* InUserCode::here() { return code_here; }

void UserCodeObserver::begin_observing() { replace_observer(nullptr, this); }

void UserCodeObserver::end_observing() { replace_observer(this, nullptr); }

}  // namespace forebay
