#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace forebay {

/// Threads that share pieces of work which are too short to start threads for: a tenth of a
/// millisecond and more. They start with the first work and sleep between two.
class ThreadTeam {
 public:
  /// `members`: threads that work, including the caller's; at least 1.
  explicit ThreadTeam(std::size_t members);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  std::size_t members() const { return members_; }

  /// Calls body(member) once for each member from 0 to members() - 1, at the same time where the
  /// system gives the threads; returns when all calls have ended. `body` must not throw. Any thread
  /// may call it, and waits while another one's work runs.
  void run(const std::function<void(std::size_t)>& body);

  /// Calls body(i, member) for each i below `count` in that order, each by the next free member.
  void for_each(std::size_t count, const std::function<void(std::size_t, std::size_t)>& body);

 private:
  void start();
  void work(std::size_t member);

  const std::size_t members_;
  std::mutex turn_;   ///< Held during run(); taken before the other.
  std::mutex mutex_;  ///< Guards all below but the threads.
  std::condition_variable next_round_, all_done_;
  const std::function<void(std::size_t)>* body_ = nullptr;
  std::uint64_t round_ = 0;
  std::size_t working_ = 0;
  bool stop_ = false;
  std::vector<std::thread> threads_;  ///< Belongs to the caller of run().
};

}  // namespace forebay
