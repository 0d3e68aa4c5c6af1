#include "engine/cluster/network_endpoint.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "actors/transform/transform.h"
#include "core/base/open_files.h"
#include "core/base/thread/start_thread.h"
#include "core/data/digest.h"
#include "core/net/curve_keys.h"
#include "core/net/host_port.h"
#include "engine/job/text_file.h"

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
  // ZeroMQ aborts if it cannot start its two threads; the other two are the loop's and the actors'.
  constexpr std::size_t kThreads = 4;
  if (auto status = check_threads(kThreads, "the network"); !status) return pass(status);
  ZmqTransport::Options transport;
  transport.heartbeat = std::chrono::duration_cast<std::chrono::milliseconds>(options.heartbeat);
  transport.received = options.received;
  transport.say = options.say;
  transport.kept_descriptors = kept_descriptors(descriptor_limit());
  if (!options.keys.empty()) {
    auto keys = CurveKeys::read(options.keys);
    if (!keys) return pass(keys);
    transport.keys = std::move(*keys);
  }
  auto end = std::unique_ptr<NetworkEndpoint>(
      new NetworkEndpoint());  // NOLINT: the constructor is private.
  end->has_keys_ = transport.keys.has_value();
  end->transport_ = ZmqTransport::make(std::move(transport), clock);
  ActorSystem::Options actors;
  actors.executor.name = "cluster";
  actors.executor.threads = 1;
  actors.on_unheard = [say = options.say](ActorId, const Error& error) {
    if (say) say(error.message);
  };
  end->actors_ = std::make_unique<ActorSystem>(std::move(actors), clock);
  end->node_ = std::make_unique<Node>(end->actors_->host(), *end->transport_);
  const auto registry = end->actors_->spawn(
      {.name = "peers"}, [table = &end->table_] { return std::make_unique<PeerRegistry>(*table); });
  end->node_->subscribe(registry);
  end->node_->start();
  return end;
}

NetworkEndpoint::~NetworkEndpoint() {
  stop();
  if (actors_) actors_->shutdown(ActorHost::Stop::kNow);
  node_.reset();
}

void NetworkEndpoint::stop() {
  if (transport_) transport_->stop();
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

Status HeadLocation::open() {
  if (!names_a_file(given_)) return move_to(given_);
  auto status = read();
  if (status || status.error().code != Code::kNotFound) return status;
  trouble_ = status.error().message;
  say_("waiting for " + trouble_);
  return {};
}

void HeadLocation::look() {
  if (!names_a_file(given_)) return;
  const std::string now = address();
  if (!now.empty() && net_.reaches(now)) return;
  const Status status = read();
  const std::string trouble = status ? "" : status.error().message;
  if (!status && trouble != trouble_) say_(trouble);
  trouble_ = trouble;
}

std::string HeadLocation::address() const {
  return serial_([this]() -> std::string { return address_; });
}

Status HeadLocation::read() {
  auto text = read_text_file("the head's address", given_);
  if (!text) return pass(text);
  const std::string line = text->substr(0, text->find_first_of("\r\n"));
  if (line.empty()) return fail(Code::kNotFound, "the head's address: " + given_ + " is empty");
  if (auto status = move_to(line); !status) {
    return fail(status.error().code, given_ + ": " + status.error().message);
  }
  return {};
}

Status HeadLocation::move_to(const std::string& address) {
  const std::string place = without_scheme(address);
  const std::string before = this->address();
  if (!before.empty() && place == before) return {};
  if (auto status = net_.connect(place); !status) return status;
  serial_([&] { address_ = place; });
  if (before.empty()) return {};
  net_.disconnect(before);
  say_("the head has moved from " + before + " to " + place);
  return {};
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

std::string reachable(const std::string& address) {
  auto place = parse_address(address);
  if (!place) return address;
  const bool everywhere = place->host == "0.0.0.0" || place->host == "::" || place->host == "*";
  if (everywhere) place->host = host_name();
  return place->text();
}

std::string program_version() { return FOREBAY_VERSION; }

std::string operators_digest() {
  std::string text;
  for (const OpDescription& op : describe_ops()) text.append(op.name).append(1, '\n');
  return Digest::of(text.data(), text.size()).hex();
}

scheduler::WorkerOptions worker_here(const std::string& name) {
  scheduler::WorkerOptions options;
  options.name = name;
  options.host = host_name();
  options.pid = static_cast<std::uint64_t>(::getpid());
  options.version = program_version();
  options.operators = operators_digest();
  return options;
}

}  // namespace forebay
