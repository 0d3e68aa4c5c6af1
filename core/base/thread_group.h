#pragma once

#include <sys/types.h>

#include <memory>
#include <mutex>
#include <set>

namespace forebay {

/// The threads that work for one owner, such as a session: those that entered the group, and all
/// that they start in turn with start_thread() or Thread.
///
/// Lives as long as one of its threads or owners does. Any thread.
class ThreadGroup {
 public:
  /// The calling thread belongs to `group` from construction to destruction, and to the one before
  /// again after that. Null: to no group.
  class Member {
   public:
    explicit Member(std::shared_ptr<ThreadGroup> group);
    ~Member();
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;

   private:
    std::shared_ptr<ThreadGroup> before_;
  };

  /// That of the calling thread; null where it belongs to none.
  static std::shared_ptr<ThreadGroup> current();

  /// The kernel's numbers of its threads at this moment.
  std::set<pid_t> threads() const;

 private:
  void add(pid_t thread);
  void remove(pid_t thread);

  mutable std::mutex mutex_;
  std::multiset<pid_t> threads_;
};

}  // namespace forebay
