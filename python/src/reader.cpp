#include "python/src/reader.h"

#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <future>
#include <memory>
#include <mutex>
#include <thread>

#include "python/src/errors.h"
#include "python/src/text.h"

namespace forebay::python {
namespace {

namespace nb = nanobind;

/// How long a signal waits at most.
constexpr std::chrono::milliseconds kPatience{50};

[[noreturn]] void refuse(const std::string& message) {
  raise(LoaderError{LoaderError::Code::kUnavailable, message, ""});
}

/// Ends a loader, which waits for its threads, without the interpreter's lock. The last to use one
/// may be any thread: close() does not wait for those that ask for figures.
void end_unlocked(Loader* loader) {
  std::unique_ptr<Loader> ended(loader);
  if (PyGILState_Check() == 0) return;
  const nb::gil_scoped_release released;
  ended.reset();
}

/// The loaders that run in a process. fork() copies what their threads hold, locks too, but not the
/// threads, so that a loader opened in the child could wait for ever.
class Running {
 public:
  void begin() {
    const std::lock_guard lock(mutex_);
    process_ = ::getpid();
    ++count_;
  }
  void end() {
    const std::lock_guard lock(mutex_);
    --count_;
  }
  /// Whether this process is a child of fork() in whose parent loaders ran. Takes no lock: only the
  /// parent's threads change the numbers, and they are not here.
  bool came_by_fork() const { return count_ > 0 && process_ != ::getpid(); }

 private:
  std::mutex mutex_;
  std::atomic<pid_t> process_{0};
  std::atomic<int> count_{0};
};

Running& running() {
  static Running all;
  return all;
}

/// Refuses to open a loader where one could wait for ever.
pid_t checked_process() {
  if (running().came_by_fork()) {
    refuse(
        "fork() made this process while loaders ran in its parent, and their locks may be held for "
        "ever; "
        "start it by spawn, or close the parent's loaders before");
  }
  return ::getpid();
}

}  // namespace

void Messages::add(const std::string& line) {
  const std::lock_guard lock(mutex_);
  if (lines_.size() < kMost) lines_.push_back(line);
}

void Messages::log() {
  std::vector<std::string> lines;
  {
    const std::lock_guard lock(mutex_);
    if (lines_.empty()) return;
    lines.swap(lines_);
  }
  const nb::object info = nb::module_::import_("logging").attr("getLogger")("forebay").attr("info");
  for (const std::string& line : lines) info("%s", to_str(line));
}

// The loader is opened on a thread of its own, so that this one can look for signals.
Reader::Reader(const Open& open, Start start) : process_(checked_process()) {
  Loader::Options options{
      .set = std::move(start.set),
      .resume = std::move(start.resume),
      .by_epoch = true,
      .rank = start.rank,
      .ranks = start.ranks,
      .share_run_dir = true,
      .stop = stop_.get_token(),
      .on_message = [to = messages_](const std::string& line) { to->add(line); }};
  std::packaged_task<LoaderResult<Loader>()> task([&] { return open(std::move(options)); });
  auto opened = task.get_future();
  std::jthread thread(std::move(task));
  const auto is_open = [&] {
    const nb::gil_scoped_release released;
    return opened.wait_for(kPatience) == std::future_status::ready;
  };
  while (!is_open()) {
    try {
      look_up();
    } catch (...) {
      stop_.request_stop();
      const nb::gil_scoped_release released;
      thread.join();
      throw;
    }
  }
  messages_->log();
  loader_ = std::shared_ptr<Loader>(
      std::make_unique<Loader>(value_or_raise(opened.get())).release(), &end_unlocked);
  columns_ = std::make_shared<const Columns>(loader_->schema());
  running().begin();
}

// A child that fork() made lacks the loader's threads: it cannot end them, and keeps the memory.
Reader::~Reader() {
  if (::getpid() == process_) {
    if (!is_closed()) running().end();
    return;
  }
  static_cast<void>(std::make_unique<std::shared_ptr<Loader>>(std::move(loader_)).release());
}

void Reader::look_up() {
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
  messages_->log();
}

std::shared_ptr<Loader> Reader::open_loader() const {
  if (::getpid() != process_) {
    refuse("this loader belongs to process " + std::to_string(process_) +
           ", and a child made by fork() cannot use it; start the child by spawn");
  }
  if (is_closed()) refuse("the loader is closed; open another one");
  return loader_;
}

std::unique_lock<std::mutex> Reader::taken() {
  std::unique_lock lock(in_use_, std::try_to_lock);
  if (!lock) {
    refuse(
        "another thread waits for this loader's next batch; give each thread a loader of its own");
  }
  return lock;
}

bool Reader::is_ready_within(Loader& loader, std::chrono::nanoseconds patience) const {
  const nb::gil_scoped_release released;
  return loader.wait(patience);
}

// A signal that came while this waited is raised before the batch is taken: Python drops what a
// call returns when a signal is pending, and the position would count that batch.
nb::object Reader::next() {
  const auto loader = open_loader();
  const auto lock = taken();
  begun_ = true;
  bool ready = false;
  while (!ready) {
    ready = is_ready_within(*loader, kPatience);
    look_up();
  }
  auto batch = loader->next();
  if (stop_.stop_requested()) refuse("the loader was closed while it was read");
  auto given = value_or_raise(std::move(batch));
  if (!given) return nb::none();
  return nb::cast(PythonBatch(std::move(*given), columns_));
}

void Reader::begin_epoch() {
  const auto loader = open_loader();
  const auto lock = taken();
  loader->begin_epoch();
}

void Reader::resume(const std::string& state) {
  const auto loader = open_loader();
  const auto lock = taken();
  value_or_raise(loader->resume(state));
}

std::string Reader::set(const std::string& key, const std::string& value) {
  const auto loader = open_loader();
  return value_or_raise([&] {
    const nb::gil_scoped_release released;
    return loader->set(key, value);
  }());
}

void Reader::close() {
  if (is_closed() || ::getpid() != process_) return;
  auto ended = std::move(loader_);
  loader_ = nullptr;
  running().end();
  stop_.request_stop();
  {
    const nb::gil_scoped_release released;
    const std::lock_guard lock(in_use_);
    ended.reset();
  }
  messages_->log();
}

}  // namespace forebay::python
