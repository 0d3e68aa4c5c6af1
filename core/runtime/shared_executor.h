#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/runtime/executor.h"

namespace forebay {

/// A few threads for many actors that neither block nor compute for long.
///
/// What a running actor wakes goes into its thread's own slot and runs next there, while its
/// data is warm, without a lock or a wake-up; so a pair that talks stays on one core. Everything
/// else, and what the slot holds already, joins one queue. A thread with nothing to do looks into
/// the queue, then into the slots of the others, then, after some looks, sleeps. The destructor
/// joins the threads; by then nothing may be submitted any more.
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
  std::vector<Worker*> sleepers_;  // the warmest last
  bool stopping_ = false;
  std::atomic<std::size_t> num_queued_{0};        // written under mutex_
  std::atomic<std::size_t> num_sleepers_{0};      // written under mutex_
  std::vector<std::unique_ptr<Worker>> workers_;  // does not change while threads run
};

}  // namespace forebay
