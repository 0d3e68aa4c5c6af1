#pragma once

#include <sys/types.h>

#include <memory>
#include <mutex>
#include <set>

namespace forebay {

/// The threads that work for one owner, such as a session: threads that entered the group with a
/// Member, and all that they start in turn with start_thread() or Thread.
///
/// Lives as long as one of its threads or owners. Thread-safe.
class ThreadGroup {
 public:
  /// Puts the calling thread in `group` (null: in no group) from construction to destruction, then
  /// back in its previous group.
  class Member {
   public:
    explicit Member(std::shared_ptr<ThreadGroup> group);
    ~Member();
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;

   private:
    std::shared_ptr<ThreadGroup> before_;
  };

  /// The group of the calling thread; null when the thread belongs to no group.
  static std::shared_ptr<ThreadGroup> current();

  /// The kernel's ids of the threads that are in the group now.
  std::set<pid_t> threads() const;

 private:
  void add(pid_t thread);
  void remove(pid_t thread);

  mutable std::mutex mutex_;
  std::multiset<pid_t> threads_;
};

}  // namespace forebay
