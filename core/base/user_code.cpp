#include "core/base/user_code.h"

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <shared_mutex>

#include "core/base/check.h"
#include "core/base/printable.h"

namespace forebay {
namespace {

/// The program has two: what watches memory, and what handles crashes.
constexpr std::size_t kMostObservers = 8;

// All of it belongs to the process, as what a signal handler can reach has to. Nothing is
// destroyed, since threads may still run while the process ends.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
constinit thread_local const UserCode* code_here = nullptr;
constinit std::atomic<UserCode*> first_listed{nullptr};
constinit std::mutex listing;           // over changes of the list
constinit std::shared_mutex observing;  // over the array
constinit std::array<UserCodeObserver*, kMostObservers> observers{};
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

template <class Notify>
void for_each_observer(const Notify& notify) {
  const std::shared_lock lock(observing);
  for (UserCodeObserver* observer : observers) {
    if (observer != nullptr) notify(*observer);
  }
}

/// Puts `other` where `one` stands.
void replace_observer(UserCodeObserver* one, UserCodeObserver* other) {
  const std::unique_lock lock(observing);
  auto* const place = std::find(observers.begin(), observers.end(), one);
  FOREBAY_CHECK(place != observers.end());
  *place = other;
}

}  // namespace

UserCode::UserCode(std::string_view name) : name_(printable_message(name)) {}

const UserCode* UserCode::first() { return first_listed.load(std::memory_order_acquire); }

// Entries are few, one for each function that jobs of this process ever named, and never freed: a
// signal handler may read them at any moment.
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
  code.callers_.fetch_add(1, std::memory_order_relaxed);
  for_each_observer([&](UserCodeObserver& observer) { observer.entered(code); });
}

InUserCode::~InUserCode() {
  for_each_observer([](UserCodeObserver& observer) { observer.left(*code_here); });
  code_here->callers_.fetch_sub(1, std::memory_order_relaxed);
  code_here = before_;
}

const UserCode* InUserCode::here() { return code_here; }

void UserCodeObserver::begin_observing() { replace_observer(nullptr, this); }

void UserCodeObserver::end_observing() { replace_observer(this, nullptr); }

}  // namespace forebay
