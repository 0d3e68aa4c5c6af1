#include "trainer/torch/module_functions.h"

#ifndef USE_C10D_GLOO
#define USE_C10D_GLOO 1  // Built into libtorch, whose headers hide the class without it.
#endif
#if defined(FOREBAY_NCCL) && !defined(USE_C10D_NCCL)
#define USE_C10D_NCCL 1
#endif

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <numeric>
#include <utility>

#include <ATen/ops/from_blob.h>
#include <netdb.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#ifdef FOREBAY_NCCL
#include <ATen/ops/empty.h>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#endif

#include "core/base/check.h"
#include "core/base/descriptor.h"
#include "trainer/torch/c10d_quirks.h"
#include "trainer/torch/libtorch.h"

namespace forebay {
namespace {

using Tensors = std::vector<at::Tensor>;

/// Whether and why operations are abandoned. Any thread.
class Abandoned {
 public:
  void set(const std::string& why) {
    if (claimed_.exchange(true)) return;
    why_ = why;
    is_set_.store(true, std::memory_order_release);
  }
  /// Returns an error with the reason once set() was called.
  Status check() const {
    if (!is_set_.load(std::memory_order_acquire)) return {};
    return fail(Code::kUnavailable, why_);
  }

 private:
  std::atomic<bool> claimed_{false};  // taken by the only thread that writes why_
  std::atomic<bool> is_set_{false};
  std::string why_;
};

at::Tensor bytes_tensor(const std::byte* data, std::size_t size) {
  // c10d only reads a tensor that is sent, but has no const type for it.
  return at::from_blob(const_cast<std::byte*>(data), {static_cast<std::int64_t>(size)}, at::kByte);
}

/// Like guard_torch, for c10d and its transports; shortens their messages.
template <class Work>
auto guard_c10d(const Work& work) {
  auto done = guard_torch(work);
  if (!done) done.error().message = without_source_places(std::move(done.error().message));
  return done;
}

/// The same failure, reported as that of a rank rather than of a library.
Status as_lost(Status status) {
  return fail(Code::kUnavailable,
              "another rank did not take part: " + std::move(status.error().message));
}

/// An operation of c10d; owns the tensors it works on.
class C10dPending final : public Collective::Pending {
 public:
  C10dPending(std::shared_ptr<Abandoned> abandoned, c10::intrusive_ptr<c10d::Work> work,
              Tensors tensors, Tensors copy_back)
      : abandoned_(std::move(abandoned)),
        work_(std::move(work)),
        tensors_(std::move(tensors)),
        copy_back_(std::move(copy_back)) {}
  ~C10dPending() override {
    if (work_) static_cast<void>(wait());
  }

  Status wait() override {
    const auto work = std::exchange(work_, c10::intrusive_ptr<c10d::Work>());
    auto finished = guard_c10d([&] {
      // NCCL treats the timeout of a short wait as a failure.
      const auto given_up = [this] { return !abandoned_->check(); };
      const bool over = tensors_[0].is_cpu() ? wait_patiently(*work, given_up) : work->wait();
      for (std::size_t i = 0; over && i < copy_back_.size(); ++i) copy_back_[i].copy_(tensors_[i]);
      return over;
    });
    if (finished && *finished) return {};
    if (auto still = abandoned_->check(); !still) return still;
    if (!finished) return as_lost(pass(finished));
    return as_lost(fail(Code::kUnavailable, "the operation did not complete"));
  }

 private:
  const std::shared_ptr<Abandoned> abandoned_;
  c10::intrusive_ptr<c10d::Work> work_;
  const Tensors tensors_;
  const Tensors copy_back_;  // Destinations of the first of `tensors_`, if others.
};

/// An operation that was not begun.
struct FailedPending final : Collective::Pending {
  explicit FailedPending(Status why) : failed(std::move(why)) {}
  Status wait() override { return failed; }

  const Status failed;
};

/// A process group of either kind, over host memory.
template <class Group>
class C10dCollective final : public Collective {
 public:
  C10dCollective(const CollectiveSpec& spec, c10::intrusive_ptr<c10d::Store> store,
                 c10::intrusive_ptr<Group> group, c10::Device device)
      : rank_(spec.rank),
        size_(spec.size),
        store_(std::move(store)),
        group_(std::move(group)),
        device_(device) {}

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  Handle start_all_reduce(std::span<float> values) override {
    const auto host =
        at::from_blob(values.data(), {static_cast<std::int64_t>(values.size())}, at::kFloat);
    return begin_on(host, [&](Tensors& there) { return group_->allreduce(there); });
  }

  Handle start_all_to_all(const Exchange& exchange) override {
    FOREBAY_CHECK(sum(exchange.send_bytes) == exchange.send.size());
    FOREBAY_CHECK(sum(exchange.receive_bytes) == exchange.receive.size());
    const auto host = bytes_tensor(exchange.receive.data(), exchange.receive.size());
    const auto send = bytes_tensor(exchange.send.data(), exchange.send.size());
    std::vector<std::int64_t> in(exchange.send_bytes.begin(), exchange.send_bytes.end());
    std::vector<std::int64_t> out(exchange.receive_bytes.begin(), exchange.receive_bytes.end());
    return begin([&] {
      at::Tensor from = send.to(device_);
      at::Tensor to = host.to(device_);
      auto work = group_->alltoall_base(to, from, out, in);
      return std::make_unique<C10dPending>(abandoned_, std::move(work), Tensors{to, from},
                                           back_to(host));
    });
  }

  Status broadcast(std::span<std::byte> bytes, int root) override {
    const auto host = bytes_tensor(bytes.data(), bytes.size());
    c10d::BroadcastOptions options;
    options.rootRank = root;
    const auto broadcast_it = [&](Tensors& there) { return group_->broadcast(there, options); };
    return begin_on(host, broadcast_it)->wait();
  }

  void abandon(const std::string& why) override { abandoned_->set(why); }

 private:
  static std::size_t sum(std::span<const std::size_t> bytes) {
    return std::accumulate(bytes.begin(), bytes.end(), std::size_t{0});
  }

  Tensors back_to(const at::Tensor& host) const {
    return device_.is_cpu() ? Tensors{} : Tensors{host};
  }

  template <class Begin>
  Handle begin(const Begin& begin_it) const {
    if (auto still = abandoned_->check(); !still) return std::make_unique<FailedPending>(still);
    auto pending = guard_c10d(begin_it);
    if (pending) return std::move(*pending);
    return std::make_unique<FailedPending>(as_lost(pass(pending)));
  }

  /// Begins an operation that reads and writes one tensor.
  template <class Begin>
  Handle begin_on(const at::Tensor& host, const Begin& begin_it) const {
    return begin([&] {
      Tensors there{host.to(device_)};
      auto work = begin_it(there);
      return std::make_unique<C10dPending>(abandoned_, std::move(work), there, back_to(host));
    });
  }

  const int rank_;
  const int size_;
  const c10::intrusive_ptr<c10d::Store> store_;  // Outlives the group.
  const c10::intrusive_ptr<Group> group_;
  const c10::Device device_;
  const std::shared_ptr<Abandoned> abandoned_ = std::make_shared<Abandoned>();
};

/// The address of this machine on packets to `host`, at which other ranks reach it. "" if there is
/// no route. Resolves numeric addresses without a name server.
std::string address_towards(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* first = nullptr;
  if (::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &first) != 0) return "";
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> found(first, ::freeaddrinfo);
  std::array<char, NI_MAXHOST> text{};
  for (const addrinfo* info = first; info != nullptr && text[0] == 0; info = info->ai_next) {
    const Descriptor socket(::socket(info->ai_family, SOCK_DGRAM, 0));
    if (!socket) continue;
    sockaddr_storage own{};
    socklen_t length = sizeof(own);
    auto* address = reinterpret_cast<sockaddr*>(&own);
    if (::connect(socket.number(), info->ai_addr, info->ai_addrlen) == 0 &&
        ::getsockname(socket.number(), address, &length) == 0) {
      ::getnameinfo(address, length, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST);
    }
  }
  return text.data();
}

c10::intrusive_ptr<c10d::Store> open_store(const CollectiveSpec& spec) {
  c10d::TCPStoreOptions options;
  options.port = spec.port;
  options.isServer = spec.opens_store;
  options.waitWorkers = false;
  // The store counts timeouts in whole seconds.
  options.timeout = std::max<std::chrono::milliseconds>(spec.timeout, std::chrono::seconds(1));
  c10::intrusive_ptr<c10d::Store> store = c10::make_intrusive<c10d::TCPStore>(spec.host, options);
  if (spec.group.empty()) return store;
  return c10::make_intrusive<c10d::PrefixStore>(spec.group, store);
}

std::unique_ptr<Collective> open_gloo(const CollectiveSpec& spec,
                                      const c10::intrusive_ptr<c10d::Store>& store) {
  auto options = c10d::ProcessGroupGloo::Options::create(spec.timeout);
  const std::string own = address_towards(spec.host, spec.port);
  options->devices.push_back(own.empty() ? c10d::ProcessGroupGloo::createDefaultDevice()
                                         : c10d::ProcessGroupGloo::createDeviceForHostname(own));
  options->threads = 2;  // So that a sum does not wait for an exchange begun before it.
  auto group = c10::make_intrusive<c10d::ProcessGroupGloo>(store, spec.rank, spec.size, options);
  return std::make_unique<C10dCollective<c10d::ProcessGroupGloo>>(spec, store, std::move(group),
                                                                  c10::Device(c10::kCPU));
}

#ifdef FOREBAY_NCCL
std::unique_ptr<Collective> open_nccl(const CollectiveSpec& spec,
                                      const c10::intrusive_ptr<c10d::Store>& store) {
  auto options = c10d::ProcessGroupNCCL::Options::create();
  options->timeout = spec.timeout;
  auto group = c10::make_intrusive<c10d::ProcessGroupNCCL>(store, spec.rank, spec.size, options);
  return std::make_unique<C10dCollective<c10d::ProcessGroupNCCL>>(spec, store, std::move(group),
                                                                  c10::Device(spec.device));
}
#endif

std::unique_ptr<Collective> open_group(const CollectiveSpec& spec,
                                       const c10::intrusive_ptr<c10d::Store>& store) {
#ifdef FOREBAY_NCCL
  if (c10::Device(spec.device).is_cuda()) return open_nccl(spec, store);
#endif
  return open_gloo(spec, store);
}

tl::unexpected<Error> not_met(const CollectiveSpec& spec, const Error& why) {
  return fail(Code::kUnavailable, "the ranks do not meet at " + spec.host + ":" +
                                      std::to_string(spec.port) + " within " +
                                      std::to_string(spec.timeout.count()) + " ms: " + why.message);
}

class C10dStore final : public RankStore {
 public:
  C10dStore(CollectiveSpec spec, c10::intrusive_ptr<c10d::Store> store)
      : spec_(std::move(spec)), store_(std::move(store)) {}

  Status put(const std::string& name, const std::string& text) override {
    return guard_c10d(
        [&] { store_->set(name, std::vector<std::uint8_t>(text.begin(), text.end())); });
  }

  Result<std::optional<std::string>> find(const std::string& name) override {
    return guard_c10d([&]() -> std::optional<std::string> {
      if (!store_->check({name})) return std::nullopt;
      const auto bytes = store_->get(name);
      return std::string(bytes.begin(), bytes.end());
    });
  }

  Result<std::unique_ptr<Collective>> connect() override {
    auto opened = guard_c10d([&] { return open_group(spec_, store_); });
    if (opened) return opened;
    return not_met(spec_, opened.error());
  }

 private:
  const CollectiveSpec spec_;
  const c10::intrusive_ptr<c10d::Store> store_;
};

}  // namespace

Result<std::unique_ptr<RankStore>> open_c10d_store(const CollectiveSpec& spec) {
  auto store = guard_c10d([&] { return open_store(spec); });
  if (!store) return not_met(spec, store.error());
  return std::make_unique<C10dStore>(spec, std::move(*store));
}

}  // namespace forebay
