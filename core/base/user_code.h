#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace forebay {

/// Code of a user's library, as messages name it. Every text of it can be read at any moment, by a
/// signal handler too.
class UserCode {
 public:
  /// `name` says operator, function and library; its control characters become '?'.
  explicit UserCode(std::string_view name);
  UserCode(const UserCode&) = delete;
  UserCode& operator=(const UserCode&) = delete;

  const char* name() const { return name_.c_str(); }

  /// Functions that are loaded now, each listed once. The list only grows; one that is no longer
  /// loaded stays in it. Any thread, signal handlers too: `for (auto* code = UserCode::first();
  /// code
  /// != nullptr; code = code->next()) if (code->loaded()) …`
  static const UserCode* first();
  const UserCode* next() const { return next_.load(std::memory_order_acquire); }
  bool loaded() const { return uses_.load(std::memory_order_relaxed) > 0; }
  /// Its place in the list.
  std::size_t number() const { return number_; }
  /// Code that is not in the list, such as the constructors of a library that is being loaded.
  static constexpr std::size_t kUnlisted = ~std::size_t{0};

  /// Keeps a function listed as loaded, from construction to destruction. Any thread.
  class Loaded {
   public:
    explicit Loaded(std::string_view name);
    ~Loaded();
    Loaded(const Loaded&) = delete;
    Loaded& operator=(const Loaded&) = delete;
    const UserCode& code() const { return code_; }

   private:
    UserCode& code_;
  };

 private:
  static UserCode& listed(std::string_view name);

  const std::string name_;
  std::size_t number_ = kUnlisted;
  std::atomic<int> uses_{0};
  std::atomic<UserCode*> next_{nullptr};
};

/// Publishes that this thread runs a user's code, from construction to destruction. `code` must
/// outlive it.
class InUserCode {
 public:
  explicit InUserCode(const UserCode& code);
  ~InUserCode();
  InUserCode(const InUserCode&) = delete;
  InUserCode& operator=(const InUserCode&) = delete;

  /// What the calling thread runs; null outside of users' code. Signal handlers may call it.
  static const UserCode* here();

 private:
  const UserCode* const before_;
  std::uint64_t entered_at_ = 0;  // how many observers had begun or ended before
  unsigned told_ = 0;             // a bit for each observer that wants to hear of the end
};

/// What the program that hosts users' code does when a thread enters or leaves it. Without any
/// observer, publishing is all that happens: a library must not watch its host.
///
/// Called by the thread itself, by several at once, between begin_observing() and end_observing(),
/// which waits for calls under way.
class UserCodeObserver {
 public:
  virtual ~UserCodeObserver() = default;

  /// True where left() is to follow for this call.
  virtual bool entered(const UserCode& code) = 0;
  virtual void left(const UserCode& code) = 0;

  UserCodeObserver(const UserCodeObserver&) = delete;
  UserCodeObserver& operator=(const UserCodeObserver&) = delete;

 protected:
  UserCodeObserver() = default;
  /// At the end of the derived class's constructor, and at the begin of its destructor.
  void begin_observing();
  void end_observing();
};

}  // namespace forebay
