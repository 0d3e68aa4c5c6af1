#include "tests/support/sim_network.h"

#include <algorithm>
#include <cstring>

namespace forebay::test {
namespace {

constexpr SimNetwork::Time kTransportBeat = std::chrono::milliseconds(250);

Frames copy_of(const Frames& frames) {
  Frames copies;
  copies.reserve(frames.size());
  for (const Frame& frame : frames) {
    auto bytes =
        std::make_shared<std::vector<std::byte>>(frame.data(), frame.data() + frame.size());
    const std::byte* data = bytes->data();
    copies.emplace_back(std::move(bytes), data, frame.size());
  }
  return copies;
}

}  // namespace

Status SimNetwork::send(SimTransport& from, PeerId peer, Lane lane, std::span<const std::byte> head,
                        const Frames& body) {
  for (const auto& session : sessions_) {
    for (End& end : session->ends) {
      if (end.transport != &from || end.peer != peer || !end.open) continue;
      const std::size_t bytes = head.size() + bytes_of(body);
      if (end.backlog + bytes > max_backlog) {
        return fail(Code::kOverloaded, "too much waits for the peer");
      }
      if (random_.uniform() < faults.drop) return {};
      auto& line = end.outgoing[static_cast<std::size_t>(lane)];
      const Time delay{
          static_cast<Time::rep>(random_.uniform() * static_cast<double>(faults.delay.count()))};
      const int copies = random_.uniform() < faults.repeat ? 2 : 1;
      for (int i = 0; i < copies; ++i) {
        end.backlog += bytes;
        line.push_back({now_ + delay, {head.begin(), head.end()}, copy_of(body)});
      }
      if (line.size() > 1 && random_.uniform() < faults.swap) {
        std::swap(line.back(), line[line.size() - 2]);
      }
      return {};
    }
  }
  return fail(Code::kUnavailable, "the session is over");
}

void SimNetwork::close(SimTransport& from, PeerId peer) {
  for (const auto& session : sessions_) {
    for (End& end : session->ends) {
      if (end.transport != &from || end.peer != peer) continue;
      end.open = false;
      from.dialled_.erase(end.dialled);
    }
  }
}

void SimNetwork::forget(SimTransport& gone) {
  transports_.erase(&gone);
  for (const auto& session : sessions_) {
    for (End& end : session->ends) {
      if (end.transport != &gone) continue;
      end.transport = nullptr;
      end.open = false;
      // Data in the kernel's buffers may arrive long after its process has died.
      const Time late = std::chrono::milliseconds(random_.below(3) == 0 ? random_.below(1500) : 0);
      for (auto& line : end.outgoing) {
        for (Message& message : line) message.due += late;
      }
    }
  }
}

void SimNetwork::connect_dialling(Time now) {
  const std::vector<SimTransport*> all(transports_.begin(), transports_.end());
  std::vector<SimTransport*> by_name = all;  // Pointers differ from run to run, names are the same.
  std::sort(by_name.begin(), by_name.end(), [](auto* a, auto* b) { return a->name_ < b->name_; });
  for (SimTransport* from : by_name) {
    if (from->frozen || from->handler_ == nullptr) continue;
    for (const std::string& address : from->dialling_) {
      if (from->dialled_.contains(address) || random_.below(4) > 0) continue;
      const auto to = std::find_if(by_name.begin(), by_name.end(), [&](SimTransport* other) {
        return other->listening_ == address && other->handler_ != nullptr && !other->frozen;
      });
      if (to == by_name.end() || cuts_.contains({from->name_, (*to)->name_}) ||
          cuts_.contains({(*to)->name_, from->name_})) {
        continue;
      }
      auto session = std::make_unique<Session>();
      session->ends[0] = {.transport = from,
                          .name = from->name_,
                          .peer = PeerId{++num_peers_},
                          .dialled = address,
                          .heard = now};
      session->ends[1] = {.transport = *to,
                          .name = (*to)->name_,
                          .peer = PeerId{++num_peers_},
                          .dialled = "",
                          .heard = now};
      from->dialled_[address] = session->ends[0].peer;
      const PeerId ours = session->ends[0].peer;
      const PeerId theirs = session->ends[1].peer;
      sessions_.push_back(std::move(session));
      from->handler_->on_peer_up(ours, {.address = address, .host = {}, .key = {}});
      (*to)->handler_->on_peer_up(theirs, {});
    }
  }
}

void SimNetwork::deliver(Session& session, std::size_t from, Time now) {
  End& source = session.ends[from];
  End& target = session.ends[1 - from];
  if (target.transport == nullptr || !target.open || target.transport->frozen) return;
  if (is_cut(source, target)) return;
  const bool source_lives = source.transport != nullptr && source.open && !source.transport->frozen;
  if (source_lives) target.heard = now;
  bool sent = true;
  while (sent && target.transport != nullptr && target.open) {
    sent = false;
    for (auto& line : source.outgoing) {
      if (line.empty() || line.front().due > now || !target.open) continue;
      const Message message = std::move(line.front());
      line.pop_front();
      source.backlog -= std::min(source.backlog, message.head.size() + bytes_of(message.body));
      target.transport->handler_->on_message(target.peer, message.head, message.body);
      sent = true;
    }
  }
}

void SimNetwork::give_up_silent(Session& session, Time now) {
  for (std::size_t i = 0; i < 2; ++i) {
    End& end = session.ends[i];
    End& other = session.ends[1 - i];
    if (end.transport == nullptr || !end.open || end.transport->frozen) continue;
    const bool rest_is_due = !other.outgoing[0].empty() || !other.outgoing[1].empty();
    const bool told = !other.open && !is_cut(other, end) && !rest_is_due;
    if (!told && now - end.heard < dead_after + kTransportBeat) continue;
    end.open = false;
    end.transport->dialled_.erase(end.dialled);
    end.transport->handler_->on_peer_down(end.peer, {Code::kUnavailable, "the peer is silent"});
  }
}

void SimNetwork::step(Time now) {
  now_ = now;
  connect_dialling(now);
  for (std::size_t i = 0; i < sessions_.size(); ++i) {  // Handlers may begin other sessions.
    Session& session = *sessions_[i];
    deliver(session, 0, now);
    deliver(session, 1, now);
    give_up_silent(session, now);
  }
  std::erase_if(sessions_, [](const auto& session) {
    return !session->ends[0].open && !session->ends[1].open;
  });
}

}  // namespace forebay::test
