#include "engine/network/network_endpoint.h"

#include <algorithm>
#include <utility>

#include "core/base/open_files.h"
#include "core/base/thread/start_thread.h"
#include "core/net/curve_keys.h"
#include "core/net/host_port.h"

namespace forebay {

std::string without_scheme(const std::string& address) {
  constexpr std::string_view kScheme = "tcp://";
  return address.starts_with(kScheme) ? address.substr(kScheme.size()) : address;
}

std::size_t kept_descriptors(std::size_t limit) {
  return std::min(limit / 2, kMostKeptDescriptors);
}

PeerId PeerRegistry::Table::peer(const std::string& address) const {
  return serial([&] {
    const auto found = by_address.find(address);
    return found == by_address.end() ? PeerId::kNone : found->second;
  });
}

Status PeerRegistry::on(const PeerUp& up, Context&) {
  if (!up.info.address.empty()) {
    table_.serial([&] { table_.by_address[up.info.address] = up.peer; });
  }
  return {};
}

Status PeerRegistry::on(const PeerDown& down, Context&) {
  table_.serial([&] {
    std::erase_if(table_.by_address, [&](const auto& entry) { return entry.second == down.peer; });
  });
  return {};
}

Result<std::unique_ptr<NetworkEndpoint>> NetworkEndpoint::make(const Options& options,
                                                               const Clock& clock) {
  // ZeroMQ aborts if it cannot start its two threads; two are the loop's.
  constexpr std::size_t kThreads = 4;
  if (auto status = check_threads(kThreads + options.threads, "the network"); !status) {
    return pass(status);
  }
  ZmqTransport::Options transport;
  transport.heartbeat = std::chrono::duration_cast<std::chrono::milliseconds>(options.heartbeat);
  transport.lost_after = options.lost_after;
  transport.received = options.received;
  transport.kept_descriptors = kept_descriptors(descriptor_limit());
  if (!options.keys.empty()) {
    auto keys = CurveKeys::read(options.keys);
    if (!keys) return pass(keys);
    transport.keys = std::move(*keys);
  }
  auto end = std::unique_ptr<NetworkEndpoint>(
      new NetworkEndpoint());  // NOLINT: the constructor is private.
  transport.say = [&trouble = end->trouble_, say = options.say](const std::string& words) {
    trouble.change([&](std::string& last) { last = words; });
    if (say) say(words);
  };
  end->has_keys_ = transport.keys.has_value();
  end->transport_ = ZmqTransport::make(std::move(transport), clock);
  ActorSystem::Options actors;
  actors.executor.name = "cluster";
  actors.executor.threads = options.threads;
  actors.on_unheard = [say = options.say](ActorId, const Error& error) {
    if (say) say(error.message);
  };
  actors.on_long_turn = options.say;
  end->actors_ = std::make_unique<ActorSystem>(std::move(actors), clock);
  end->node_ = std::make_unique<Node>(end->actors_->host(), *end->transport_);
  const auto registry = end->actors_->spawn(
      {.name = "peers"}, [table = &end->table_] { return std::make_unique<PeerRegistry>(*table); });
  end->node_->subscribe(registry);
  end->node_->start();
  return end;
}

std::string NetworkEndpoint::trouble() const {
  return trouble_.change(
      [](const std::string& last) { return last.empty() ? last : " (" + last + ")"; });
}

NetworkEndpoint::~NetworkEndpoint() {
  end();
  node_.reset();
}

void NetworkEndpoint::stop() {
  if (transport_) transport_->stop();
}

void NetworkEndpoint::end() {
  stop();
  if (actors_) actors_->shutdown(ActorHost::Stop::kNow);
}

Result<std::string> NetworkEndpoint::listen(const std::string& address) {
  const std::string place = without_scheme(address);
  if (auto status = check_address_policy(place, has_keys_); !status) return pass(status);
  return transport_->listen(place);
}

Status NetworkEndpoint::connect(const std::string& address) {
  const std::string place = without_scheme(address);
  if (auto status = check_address_policy(place, has_keys_); !status) return pass(status);
  return transport_->connect(place);
}

void NetworkEndpoint::disconnect(const std::string& address) {
  transport_->disconnect(without_scheme(address));
}

}  // namespace forebay
