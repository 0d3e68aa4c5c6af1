#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <forebay/loader.h>
#include <nanobind/nanobind.h>

#include "python/src/batch.h"

namespace forebay::python {

/// Lines for the user, which the loader's threads write and Python's log receives.
class Messages {
 public:
  void add(const std::string& line);
  /// Passes on the lines that wait. With the interpreter's lock.
  void log();

 private:
  static constexpr std::size_t kMost = 1000;  // more are dropped
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

/// One loader under Python's rules: waits without the interpreter's lock, looks for signals while
/// it waits, and refuses to work in a child that fork() made.
///
/// next(), begin_epoch() and resume() are refused while another thread is in one of them; the other
/// functions may be called on any thread.
class Reader {
 public:
  using Open = std::function<LoaderResult<Loader>(Loader::Options)>;

  /// What of Loader::Options the package sets.
  struct Start {
    std::vector<std::string> set;
    std::string resume;
    std::uint32_t rank = 0;
    std::uint32_t ranks = 1;
  };

  /// Opens a loader. Raises KeyboardInterrupt and the like at once.
  Reader(const Open& open, Start start);
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  /// Returns the next batch; None at the end of the epoch.
  nanobind::object next();
  void begin_epoch();
  void resume(const std::string& state);
  std::string set(const std::string& key, const std::string& value);
  /// Ends the stream, waits for a thread that is in next(), and ends the loader's threads.
  void close();

  bool has_begun() const { return begun_; }
  bool is_closed() const { return loader_ == nullptr; }
  const LoaderSchema& schema() const { return columns_->schema(); }
  LoaderEpoch epoch() const { return open_loader()->epoch(); }
  LoaderPosition position() const { return open_loader()->position(); }
  std::string state() const { return open_loader()->state(); }
  LoaderStats stats() const { return open_loader()->stats(); }

 private:
  /// The loader, if it is open and belongs to this process; raises else.
  std::shared_ptr<Loader> open_loader() const;
  std::unique_lock<std::mutex> taken();
  bool is_ready_within(Loader& loader, std::chrono::nanoseconds patience) const;
  void look_up();

  const ::pid_t process_;
  const std::shared_ptr<Messages> messages_ = std::make_shared<Messages>();
  std::stop_source stop_;
  std::shared_ptr<Loader> loader_;  // null: closed; changed with the interpreter's lock alone
  std::shared_ptr<const Columns> columns_;
  bool begun_ = false;
  std::mutex in_use_;  // held by the thread that is in next()
};

/// Adds the class `Reader` to the module.
void bind_reader(nanobind::module_& module);

}  // namespace forebay::python
