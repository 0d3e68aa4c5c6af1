// User functions for user_functions_test.py and stages_test.py: harmless ones, and one for each way
// to end a process.

#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>

#include <forebay/udf.h>

FOREBAY_UDF(innocent) {
  for (std::size_t column = 0; column < call.num_dense(); ++column) {
    for (float& value : call.dense(column)) value += 1;
  }
}

/// Allocates much memory in each call and frees it.
FOREBAY_UDF(borrows) {
  void* const bytes = std::malloc(4 << 20);
  std::memset(bytes, 1, 4 << 20);
  std::free(bytes);
}

FOREBAY_UDF(calls_exit) { std::exit(0); }
FOREBAY_UDF(calls_underscore_exit) { ::_exit(0); }
FOREBAY_UDF(calls_capital_exit) { std::_Exit(0); }
FOREBAY_UDF(calls_quick_exit) { std::quick_exit(0); }
FOREBAY_UDF(calls_abort) { std::abort(); }
FOREBAY_UDF(throws_out_of_noexcept) {
  [&]() noexcept { static_cast<void>(std::stoi("not a number")); }();
}

void dies_of(int signal) {
  rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  std::raise(signal);
}

FOREBAY_UDF(crashes) {
  rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  *reinterpret_cast<volatile int*>(call.params().size()) = 1;  // the first page
}

FOREBAY_UDF(divides) { dies_of(SIGFPE); }
FOREBAY_UDF(meets_a_short_file) { dies_of(SIGBUS); }
FOREBAY_UDF(traps) { dies_of(SIGILL); }

int deep(volatile char* above) {
  volatile char here[4096];
  here[0] = above[0];
  return deep(here) + here[0];
}
FOREBAY_UDF(overflows_its_stack) {
  volatile char first = 0;
  deep(&first);
}

FOREBAY_UDF(exits_in_a_thread_of_its_own) {
  std::thread([] { std::exit(0); }).join();
}

/// A child process of the function may end in any way.
FOREBAY_UDF(forks) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
}

/// Takes so long by sleeping in the kernel.
void work(int milliseconds) { ::poll(nullptr, 0, milliseconds); }

/// Takes as many milliseconds a call as `params` says, without a CPU.
FOREBAY_UDF(waits) { work(std::stoi(std::string(call.params()))); }

/// Takes as many milliseconds as `params` says at every 16th call, and no time at the others.
FOREBAY_UDF(waits_in_turns) {
  static std::atomic<int> calls{0};
  if (calls++ % 16 == 0) work(std::stoi(std::string(call.params())));
}

/// Leaks half a MiB a call, which takes as many milliseconds as `params` says.
FOREBAY_UDF(leaks) {
  std::memset(std::malloc(1 << 19), 1, 1 << 19);
  work(std::stoi(std::string(call.params())));
}

FOREBAY_UDF(leaks_in_one_call) {
  while (true) {
    std::memset(std::malloc(1 << 19), 1, 1 << 19);
    work(1);
  }
}

/// Takes long, and no memory.
FOREBAY_UDF(slow) { work(5); }

bool on_a_worker() {
  std::ifstream file("/proc/self/cmdline");
  std::string program;
  std::string command;
  std::getline(file, program, '\0');
  std::getline(file, command, '\0');
  return command == "worker";
}

FOREBAY_UDF(exits_on_a_worker) {
  if (on_a_worker()) std::exit(0);
}

/// Takes 400 MiB in its first call, which never ends.
FOREBAY_UDF(leaks_on_a_worker) {
  if (!on_a_worker()) return;
  std::memset(std::malloc(400 << 20), 1, 400 << 20);
  work(-1);
}

FOREBAY_UDF(reads_past_the_rows) { static_cast<void>(call.ids(0, call.rows())); }
