#include "engine/cluster/head_look.h"

#include <utility>

#include "core/base/background_worker.h"
#include "core/runtime/ask.h"
#include "core/runtime/synchronized.h"
#include "engine/cluster/start_head.h"

namespace forebay {
namespace {

constexpr std::chrono::milliseconds kRetryInterval(10);

}  // namespace

Result<std::unique_ptr<HeadLook>> HeadLook::open(const std::string& address,
                                                 const std::string& keys) {
  auto look = std::unique_ptr<HeadLook>(new HeadLook(address));  // NOLINT: private.
  auto net = NetworkEndpoint::make({.keys = keys, .say = {}}, look->clock_);
  if (!net) return fail(net.error().code, "--keys: " + net.error().message);
  look->net_ = std::move(*net);
  if (auto status = look->net_->connect(address); !status) {
    return fail(status.error().code, "--join: " + status.error().message);
  }
  return look;
}

Result<scheduler::ClusterStatus> HeadLook::look(std::chrono::nanoseconds patience) {
  using StatusRef = ActorRef<scheduler::QueryCluster>;
  const auto head = [this] {
    return net_->actor<StatusRef>(without_scheme(address_), kStatusName);
  };
  const auto until = clock_.now() + patience;
  Latch there;
  {
    const Ticker retry(kRetryInterval, [&] {
      if (head().receiver() != nullptr) there.open();
    });
    static_cast<void>(there.wait_for(patience));
  }
  const std::string nobody =
      "no head answers at " + address_ + "; is the job running, and is it the right address?";
  const StatusRef status_ref = head();
  if (status_ref.receiver() == nullptr) return fail(Code::kUnavailable, nobody);
  auto answer = ask(status_ref, scheduler::QueryCluster{}, patience).wait();
  // A head that has just started can be connected to before its actor exists.
  while (!answer && answer.error().code == Code::kNotFound && clock_.now() < until) {
    static_cast<void>(Latch().wait_for(kRetryInterval));
    answer = ask(status_ref, scheduler::QueryCluster{}, patience).wait();
  }
  if (answer) return answer;
  return fail(Code::kUnavailable, nobody + " (" + answer.error().message + ")");
}

}  // namespace forebay
