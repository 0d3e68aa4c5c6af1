#include "tools/process/user_code_guard.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <string_view>

#include "core/base/all_bytes.h"
#include "core/base/sanitizers.h"
#include "core/base/thread/user_code.h"
#include "tools/process/process_end.h"

namespace forebay {
namespace {

struct Fatal {
  int number;
  const char* words;
};

constexpr std::array kFatal{
    Fatal{SIGSEGV, "SIGSEGV (memory that is not there, or a stack overflow)"},
    Fatal{SIGBUS, "SIGBUS (memory whose file was cut short)"},
    Fatal{SIGFPE, "SIGFPE (an integer division by zero)"},
    Fatal{SIGILL, "SIGILL (an illegal instruction)"},
    Fatal{SIGABRT, "SIGABRT (abort, or an exception that nothing catches)"},
    Fatal{SIGTRAP, "SIGTRAP (a trap)"},
    Fatal{SIGSYS, "SIGSYS (a forbidden system call)"},
};

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): what handlers can reach.
std::atomic<pid_t> guarded{0};
std::atomic<bool> main_has_ended{false};
std::atomic<bool> reported{false};
std::terminate_handler terminate_before = nullptr;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)
static_assert(std::atomic<pid_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

/// A message of bounded size, built without heap memory; longer messages are cut.
class Message {
 public:
  Message& add(std::string_view text) {
    const std::size_t taken = std::min(text.size(), text_.size() - 1 - size_);
    std::memcpy(text_.data() + size_, text.data(), taken);
    size_ += taken;
    return *this;
  }
  Message& add(int number) {
    std::array<char, 16> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    return add({digits.data(), static_cast<std::size_t>(end - digits.data())});
  }
  std::string_view text() const { return {text_.data(), size_}; }
  void write() {
    text_[size_++] = '\n';
    static_cast<void>(write_all(STDERR_FILENO, text()));
  }

 private:
  std::array<char, 4096> text_;
  std::size_t size_ = 0;
};

/// Returns whether users' code may have caused this end: it runs on this thread, or it is loaded
/// and may run in a thread that it started.
bool suspicious() {
  if (::getpid() != guarded) return false;
  if (InUserCode::here() != nullptr) return true;
  for (const UserCode* code = UserCode::first(); code != nullptr; code = code->next()) {
    if (code->loaded()) return true;
  }
  return false;
}

void add_loaded(Message& message) {
  const char* before = " user functions are loaded: ";
  for (const UserCode* code = UserCode::first(); code != nullptr; code = code->next()) {
    if (!code->loaded()) continue;
    message.add(before).add(code->name());
    before = ", ";
  }
}

/// Reports what happened (`verb` and `what`: "called", "exit"), in which function, and what to do;
/// if no function is known, the loaded ones. Once in a process: a second thread waits until the
/// first one ends the process.
void report(std::string_view verb, std::string_view what, std::string_view advice,
            std::string_view blame) {
  if (reported.exchange(true)) {
    while (true) ::pause();
  }
  Message message;
  // The cursor may be on a live progress line.
  if (::isatty(STDERR_FILENO) == 1) message.add("\r\033[K");
  message.add("forebay: ");
  if (const UserCode* here = InUserCode::here()) {
    message.add(here->name()).add(verb).add(what).add(advice);
  } else {
    message.add("a thread that is in no operator").add(verb).add(what).add(";");
    add_loaded(message);
    message.add(blame);
  }
  message.write();
}

void on_fatal(int number) {
  const int error = errno;
  if (suspicious()) {
    const auto* const known = std::ranges::find(kFatal, number, &Fatal::number);
    report(" was ended by ", known == kFatal.end() ? "a signal" : known->words,
           "; mend the function", "; one of them may be the cause");
  }
  // The signal is blocked until the handler returns; then it ends the process at the point where it
  // was raised.
  ::signal(number, SIG_DFL);
  ::raise(number);
  errno = error;
}

[[noreturn]] void end_as_failed(std::string_view call, std::optional<int> status) {
  Message what;
  what.add(call);
  if (status) what.add("(").add(*status).add(")");
  report(" called ", what.text(), "; a user function must return or throw",
         "; one of them is the cause");
  end_process(1);
}

void on_exit_call(int status, void*) {
  if (!main_has_ended && suspicious()) end_as_failed("exit", status);
}

void on_quick_exit() {
  if (!main_has_ended && suspicious()) end_as_failed("quick_exit", std::nullopt);
}

// If users' code is the cause, the C++ library's own message, which names types, is left out.
void on_terminate() {
  if (InUserCode::here() == nullptr && terminate_before != nullptr) terminate_before();
  std::abort();
}

/// Gives each thread that enters users' code a stack for signal handlers, so that an overflow of
/// its own stack can be reported, and installs exit handlers that run before those of the library.
class ThreadsOfUserCode final : public UserCodeObserver {
 public:
  ThreadsOfUserCode() { begin_observing(); }
  ~ThreadsOfUserCode() override { end_observing(); }

  bool entered(const UserCode& code) override {
    static thread_local const HandlerStack stack;
    return code.number() == UserCode::kUnlisted;
  }
  void left(const UserCode&) override { register_exit_handlers(); }

  static void register_exit_handlers() {
    ::on_exit(on_exit_call, nullptr);
    std::at_quick_exit(on_quick_exit);
  }

 private:
  class HandlerStack {
   public:
    HandlerStack() : bytes_(size()), memory_(std::make_unique<std::byte[]>(bytes_)) {
      stack_t stack = {};
      ::sigaltstack(nullptr, &stack);
      if ((stack.ss_flags & SS_DISABLE) == 0) return;  // set by a sanitizer
      stack = {.ss_sp = memory_.get(), .ss_flags = 0, .ss_size = bytes_};
      ours_ = ::sigaltstack(&stack, nullptr) == 0;
    }
    ~HandlerStack() {
      if (!ours_) return;
      stack_t stack = {};
      stack.ss_flags = SS_DISABLE;
      ::sigaltstack(&stack, nullptr);
    }

   private:
    /// The kernel's part grows with the size of the machine's registers.
    static std::size_t size() {
      constexpr std::size_t kOurs = 24576;
      const long least = ::sysconf(_SC_MINSIGSTKSZ);
      return kOurs + static_cast<std::size_t>(std::max(least, 8192L));
    }

    const std::size_t bytes_;
    const std::unique_ptr<std::byte[]> memory_;  // NOLINT(modernize-avoid-c-arrays)
    bool ours_ = false;
  };
};

void handle_fatal_signals() {
  struct sigaction action = {};
  action.sa_handler = on_fatal;
  action.sa_flags = SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (const Fatal& each : kFatal) ::sigaction(each.number, &action, nullptr);
}

}  // namespace

void UserCodeGuard::install() {
  guarded = ::getpid();
  ThreadsOfUserCode::register_exit_handlers();
  terminate_before = std::set_terminate(on_terminate);
  // Never destroyed: threads may enter users' code while the process ends.
  static_cast<void>(std::make_unique<ThreadsOfUserCode>().release());
  if (FOREBAY_ADDRESS_SANITIZER == 0 && FOREBAY_THREAD_SANITIZER == 0) handle_fatal_signals();
}

void UserCodeGuard::main_ends() { main_has_ended = true; }

void UserCodeGuard::called_exit(const char* call, int status) {
  if (suspicious()) end_as_failed(call, status);
  end_process(status);
}

}  // namespace forebay
