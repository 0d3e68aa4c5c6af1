#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace forebay {

/// A function of a user's library, as messages name it. All its strings can be read at any moment,
/// also by a signal handler.
class UserCode {
 public:
  /// `name` contains operator, function and library; its control characters are escaped.
  explicit UserCode(std::string_view name);
  UserCode(const UserCode&) = delete;
  UserCode& operator=(const UserCode&) = delete;

  const char* name() const { return name_.c_str(); }

  /// The functions that were loaded so far, each listed once. The list only grows: a function that
  /// is no longer loaded stays in it. Thread-safe and async-signal-safe:
  ///     for (auto* code = UserCode::first(); code != nullptr; code = code->next())
  ///       if (code->loaded()) …
  static const UserCode* first();
  const UserCode* next() const { return next_.load(std::memory_order_acquire); }
  bool loaded() const { return uses_.load(std::memory_order_relaxed) > 0; }
  /// The position in the list, or kUnlisted.
  std::size_t number() const { return number_; }
  /// The number of code that is not in the list, such as the constructors of a library while it
  /// loads.
  static constexpr std::size_t kUnlisted = ~std::size_t{0};

  /// Keeps a function listed as loaded from construction to destruction. Thread-safe.
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

/// Marks the calling thread as running a user's code from construction to destruction. `code` must
/// outlive this object.
class InUserCode {
 public:
  explicit InUserCode(const UserCode& code);
  ~InUserCode();
  InUserCode(const InUserCode&) = delete;
  InUserCode& operator=(const InUserCode&) = delete;

  /// The code that the calling thread runs; null outside users' code. Async-signal-safe.
  static const UserCode* here();

 private:
  const UserCode* const before_;
  std::uint64_t entered_at_ = 0;  // number of observers that had begun or ended before this call
  unsigned told_ = 0;             // one bit for each observer that wants left() for this call
};

/// Lets the program that hosts users' code react when a thread enters or leaves it. Without an
/// observer, user code is only published through InUserCode: a library must not watch its host.
///
/// The entering or leaving thread makes the calls, several threads at once, and only between
/// begin_observing() and end_observing(), which waits for calls under way. Beyond 32 observers of a
/// process, further ones are not told of calls.
class UserCodeObserver {
 public:
  virtual ~UserCodeObserver() = default;

  /// Returns true to be called with left() when this call ends.
  virtual bool entered(const UserCode& code) = 0;
  virtual void left(const UserCode& code) = 0;

  UserCodeObserver(const UserCodeObserver&) = delete;
  UserCodeObserver& operator=(const UserCodeObserver&) = delete;

 protected:
  UserCodeObserver() = default;
  /// Call begin_observing() at the end of the derived class's constructor, and end_observing() at
  /// the start of its destructor.
  void begin_observing();
  void end_observing();
};

}  // namespace forebay
