#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/runtime/executor/executor.h"

namespace forebay {

/// A few threads for many actors that neither block nor compute for long.
///
/// An actor woken by a running actor goes into the slot of that thread and runs there next, while
/// its data is in the cache, without a lock or a wake-up; so two actors that exchange messages stay
/// on one core. Other work, and the slot's previous content, goes into one queue. An idle thread
/// looks at the queue, then at the slots of the other threads, and sleeps after several looks. The
/// destructor joins the threads; nothing may be submitted by then.
class SharedExecutor final : public Executor {
 public:
  struct Options {
    std::string name = "control";
    std::size_t threads = 2;
    std::size_t stack_bytes = 512 * 1024;
  };

  explicit SharedExecutor(const Options& options);
  ~SharedExecutor() override;

  void submit(Resumable& work) override;
  void nudge() override;
  void run_here(const std::function<void()>& wake) override;

 private:
  struct Worker;

  void stop();
  void run(Worker& self);
  Resumable* next(Worker& self);
  Resumable* find(Worker& self);
  static Resumable* take_slot(Worker& worker);
  Resumable* pop_queue();  // under mutex_
  void enqueue(Resumable& work);
  Worker* this_worker() const;

  static thread_local Worker* worker_of_thread;  // NOLINT: of any executor.

  std::mutex mutex_;
  Resumable* first_ = nullptr;  // the queue; under mutex_, as all below
  Resumable* last_ = nullptr;
  std::vector<Worker*> sleepers_;  // the most recently used last
  bool stopping_ = false;
  std::atomic<std::size_t> num_queued_{0};        // written under mutex_
  std::atomic<std::size_t> num_sleepers_{0};      // written under mutex_
  std::vector<std::unique_ptr<Worker>> workers_;  // does not change while threads run
};

}  // namespace forebay
