#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include <forebay/actor.h>

#include "core/base/clock.h"
#include "core/base/thread/start_thread.h"
#include "core/runtime/actor_host.h"
#include "engine/actors/local_target.h"

namespace forebay::actors {

namespace {

ActorSystem::Options internal_options(const System::Options& options) {
  ActorSystem::Options internal;
  internal.executor.name = "actors";
  internal.executor.threads = options.threads;
  internal.on_unheard = [say = options.on_message](ActorId, const forebay::Error& error) {
    if (say) say(error.message);
  };
  internal.on_long_turn = options.on_message;
  return internal;
}

}  // namespace

class System::Running {
 public:
  explicit Running(const Options& options)
      : system_(internal_options(options), clock_),
        host_(system_.host(), {.limits = options.objects, .store = {}}) {}
  ~Running() { system_.shutdown(ActorHost::Stop::kNow); }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  ActorSystem& system() { return system_; }
  UserHost& host() { return host_; }

 private:
  SystemClock clock_;
  ActorSystem system_;
  UserHost host_;  // its actors end in the destructor above
};

System::System(std::unique_ptr<Running> running) : running_(std::move(running)) {}
System::System(System&&) noexcept = default;
System& System::operator=(System&&) noexcept = default;
System::~System() = default;

Result<System> System::start(const Options& options) {
  if (options.threads == 0) return Error{Code::kInvalid, "threads: must be at least 1"};
  // The threads of the executor and of the timers.
  if (auto status = check_threads(options.threads + 1, "actors"); !status) {
    return shown(status.error());
  }
  return System(std::unique_ptr<Running>(new Running(options)));  // NOLINT: Running is private.
}

void System::stop() { running_->system().shutdown(ActorHost::Stop::kDrain); }

std::size_t System::num_living() const { return running_->system().num_living(); }

Host& System::host() { return running_->host(); }

}  // namespace forebay::actors
