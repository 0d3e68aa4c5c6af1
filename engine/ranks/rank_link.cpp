#include "engine/ranks/rank_link.h"

#include <algorithm>
#include <utility>

#include "core/net/host_port.h"

namespace forebay {
namespace {

template <std::size_t Index = 0>
Result<RankMessage> decode_message(std::size_t index, std::span<const std::byte> bytes,
                                   Frames& frames) {
  if constexpr (Index == std::variant_size_v<RankMessage>) {
    return fail(Code::kCorrupt, "a message of kind " + std::to_string(index));
  } else {
    if (index != Index) return decode_message<Index + 1>(index, bytes, frames);
    auto message =
        decode_value<std::variant_alternative_t<Index, RankMessage>>("a rank", bytes, frames);
    if (!message) return pass(message);
    return RankMessage(std::move(*message));
  }
}

/// Large messages, and messages that must not overtake them.
bool is_bulk(const RankMessage& message) {
  return std::holds_alternative<BatchSlice>(message) ||
         std::holds_alternative<StateBytes>(message) || std::holds_alternative<BatchIds>(message) ||
         std::holds_alternative<ForgetIds>(message);
}

}  // namespace

Result<std::unique_ptr<RankLink>> RankLink::make(const RankOptions& options, RankListener& listener,
                                                 const Clock& clock, MemoryBudget* received) {
  auto link = std::unique_ptr<RankLink>(  // NOLINT: the constructor is private.
      new RankLink(options, listener));
  ZmqTransport::Options transport;
  transport.heartbeat = std::chrono::duration_cast<std::chrono::milliseconds>(options.heartbeat);
  transport.lost_after = options.lost_after;
  transport.received = received;
  transport.say = options.say;
  if (!options.keys.empty()) {
    auto keys = CurveKeys::read(options.keys);
    if (!keys) return fail(keys.error().code, "cluster.keys: " + keys.error().message);
    transport.keys = std::move(*keys);
    link->has_keys_ = true;
  }
  link->transport_ = ZmqTransport::make(std::move(transport), clock);
  link->transport_->start(*link);
  return link;
}

RankLink::~RankLink() { transport_->stop(); }

Result<std::string> RankLink::listen(const std::string& address) {
  if (auto status = check_address_policy(address, has_keys_); !status) return pass(status);
  return transport_->listen(address);
}

Status RankLink::connect(const std::string& address) {
  if (auto status = check_address_policy(address, has_keys_); !status) return status;
  return transport_->connect(address);
}

Status RankLink::wait_for_all(std::chrono::nanoseconds most) {
  const auto expected = options_.rank == 0 ? static_cast<std::size_t>(options_.size - 1) : 1;
  const auto all = [&](const auto& peers) { return peers.size() == expected; };
  if (peers_.wait(most, all, [](auto&) {})) return {};
  if (options_.rank != 0) return fail(Code::kTimeout, "rank 0 does not answer");
  const std::string missing = peers_.change([&](const auto& peers) {
    std::string names;
    for (int rank = 1; rank < options_.size; ++rank) {
      if (!peers.contains(rank))
        names.append(names.empty() ? "" : ", ").append(std::to_string(rank));
    }
    return names;
  });
  return fail(Code::kTimeout, "rank " + missing + " does not come");
}

Status RankLink::send(int rank, const RankMessage& message) {
  const PeerId peer = peers_.change([&](const auto& peers) {
    const auto found = peers.find(rank);
    return found == peers.end() ? PeerId::kNone : found->second;
  });
  if (peer == PeerId::kNone) {
    return fail(Code::kUnavailable, "rank " + std::to_string(rank) + " was lost");
  }
  return send_to(peer, message);
}

Status RankLink::send_to(PeerId peer, const RankMessage& message) {
  WireBuffer out;
  *out.room(1) = static_cast<std::byte>(message.index());
  out.filled_to(out.bytes().data() + 1);
  std::visit([&](const auto& each) { encode_value(each, out); }, message);
  return transport_->send(peer, is_bulk(message) ? Lane::kBulk : Lane::kControl, out.bytes(),
                          std::move(out.frames));
}

void RankLink::on_peer_up(PeerId peer, const PeerInfo& info) {
  if (options_.rank == 0 || info.address.empty()) return;
  peers_.change([&](auto& peers) { peers[0] = peer; });
  static_cast<void>(send(
      0, RankHello{static_cast<std::uint64_t>(options_.rank), options_.group, options_.alike}));
}

int RankLink::rank_of(PeerId peer) {
  return peers_.change([&](const auto& peers) {
    const auto found =
        std::ranges::find_if(peers, [&](const auto& entry) { return entry.second == peer; });
    return found == peers.end() ? -1 : found->first;
  });
}

void RankLink::on_peer_down(PeerId peer, const Error& reason) {
  const int rank = rank_of(peer);
  if (rank < 0) return;
  peers_.change([&](auto& peers) { peers.erase(rank); });
  listener_.on_lost(rank, reason.message);
}

void RankLink::on_message(PeerId peer, std::span<const std::byte> head, Frames body) {
  auto message = head.empty()
                     ? fail(Code::kCorrupt, "an empty message")
                     : decode_message(static_cast<std::size_t>(head[0]), head.subspan(1), body);
  if (!message) return transport_->close(peer, message.error().message);
  const int rank = rank_of(peer);
  if (rank < 0) return greet(peer, *message);
  listener_.on_message(rank, std::move(*message));
}

// A rank connects once: a second rank of the same number belongs to another start. Messages that
// overtook a rank's hello are ignored; none of them is needed.
void RankLink::greet(PeerId peer, const RankMessage& first) {
  const auto* hello = std::get_if<RankHello>(&first);
  if (hello == nullptr) return;
  const auto size = static_cast<std::uint64_t>(options_.size);
  const bool ours = hello->group == options_.group && hello->rank > 0 && hello->rank < size;
  if (!ours) return transport_->close(peer, "no rank of this run");
  const int rank = static_cast<int>(hello->rank);
  if (!peers_.change([&](auto& peers) { return peers.emplace(rank, peer).second; })) {
    const std::string number = std::to_string(rank);
    return transport_->close(
        peer, "rank " + number + " is here already; two processes have RANK=" + number);
  }
  listener_.on_hello(rank, *hello);
}

}  // namespace forebay
