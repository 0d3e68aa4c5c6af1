#include "core/net/zmq/zmq_sockets.h"

#include <poll.h>

#include <algorithm>
#include <utility>

#include "core/base/check.h"

namespace forebay {
namespace {

/// The maximum number of messages read from one socket before the other sockets are served.
constexpr int kTurn = 64;

}  // namespace

ZmqSockets::ZmqSockets(const ZmqTransport::Options& options, ZmqSessions& sessions)
    : options_(options), sessions_(sessions), events_(::epoll_create1(EPOLL_CLOEXEC)) {
  FOREBAY_CHECK(events_);
}

Result<std::string> ZmqSockets::listen(const HostPort& address) {
  try {
    if (options_.keys && !zap_) {
      zap_.emplace(context_, options_.keys->clients_folder(), options_.say);
    }
  } catch (const zmq::error_t& thrown) {
    return fail(Code::kUnavailable, std::string("no socket to check keys with: ") + thrown.what());
  }
  auto listener = ZmqListener::open(context_, address, options_);
  if (!listener) return pass(listener);
  listeners_.push_back(std::move(*listener));
  return listeners_.back()->address();
}

void ZmqSockets::dial(const std::string& address, const HostPort& parts, Time now) {
  const bool known =
      std::ranges::any_of(dialers_, [&](const auto& one) { return one->address() == address; });
  if (known) return;
  dialers_.push_back(std::make_unique<ZmqDialer>(address, parts, options_));
  dialers_.back()->connect(context_, now);
}

void ZmqSockets::hang_up(const std::string& address) {
  const auto found =
      std::ranges::find_if(dialers_, [&](const auto& one) { return one->address() == address; });
  if (found == dialers_.end()) return;
  if (const auto session = sessions_.find((*found)->session())) {
    sessions_.end(session, {Code::kUnavailable, "disconnected"}, true);
  }
  dialers_.erase(found);
}

void ZmqSockets::close_all() {
  dialers_.clear();
  listeners_.clear();
  zap_.reset();
}

void ZmqSockets::begin_turn(Time now) {
  for (const auto& listener : listeners_) {
    if (listener->read_monitor(now)) {
      listener->limit_unauthenticated(now, sessions_.counts());
    }
  }
  for (const auto& dialer : dialers_) dialer->read_monitor();
  if (zap_) zap_->serve(now);
  source_ = 0;
  received_ = 0;
}

bool ZmqSockets::receive_next() {
  const std::size_t sources = listeners_.size() + 2 * dialers_.size();
  for (; source_ < sources; ++source_, received_ = 0) {
    if (received_ == kTurn || !receive_from(source_)) continue;
    ++received_;
    return true;
  }
  return false;
}

void ZmqSockets::tick(Time now) {
  for (const auto& dialer : dialers_) {
    if (dialer->too_late(now)) dialer->give_up(now);
    if (dialer->due(now)) dialer->connect(context_, now);
  }
  for (const auto& listener : listeners_) listener->limit_unauthenticated(now, sessions_.counts());
  if (!zap_) return;
  if (zap_->look(now)) {
    sessions_.check_keys([&](const std::string& key) { return zap_->has(key, now); });
  }
  sessions_.counts().refused_keys = zap_->refused();
}

void ZmqSockets::watch(int fd) const {
  epoll_event event{.events = EPOLLIN | EPOLLET, .data = {.fd = fd}};
  FOREBAY_CHECK(::epoll_ctl(events_.number(), EPOLL_CTL_ADD, fd, &event) == 0);
}

template <class Visitor>
void ZmqSockets::each_socket(Visitor visit) {
  for (const auto& listener : listeners_) {
    visit(listener->router(), true);
    visit(listener->monitor(), true);
  }
  for (const auto& dialer : dialers_) {
    if (dialer->monitor() != nullptr) visit(*dialer->monitor(), true);
    for (std::size_t lane = 0; lane < 2; ++lane) {
      PolledSocket* polled = dialer->socket(lane);
      if (polled != nullptr) visit(*polled, dialer->readable(lane));
    }
  }
  if (zap_) visit(zap_->socket(), true);
}

bool ZmqSockets::has_unread() {
  bool unread = false;
  each_socket([&](PolledSocket& polled, bool readable) {
    if (!std::exchange(polled.watched, true)) watch(polled.fd);
    unread = unread || (readable && polled.fresh);
  });
  return unread;
}

std::span<const epoll_event> ZmqSockets::wait(Events& events, int milliseconds) const {
  const int count =
      ::epoll_wait(events_.number(), events.data(), static_cast<int>(events.size()), milliseconds);
  return std::span(events).first(static_cast<std::size_t>(std::max(count, 0)));
}

void ZmqSockets::wait_briefly(Time time) const {
  pollfd wait{events_.number(), POLLIN, 0};
  const timespec until{.tv_sec = 0, .tv_nsec = time.count()};
  ::ppoll(&wait, 1, &until, nullptr);
}

void ZmqSockets::take_signal(int fd) {
  each_socket([fd](PolledSocket& polled, bool) { polled.fresh = polled.fresh || polled.fd == fd; });
}

bool ZmqSockets::receive_from(std::size_t source) {
  if (source < listeners_.size()) return receive_from(*listeners_[source]);
  const std::size_t lane = source - listeners_.size();
  return receive_from(*dialers_[lane / 2], lane % 2);
}

bool ZmqSockets::receive_from(ZmqListener& listener) {
  const ReceiveResult came = receive(listener.router(), options_.max_frames + 2, parts_);
  if (came == ReceiveResult::kNothing) return false;
  if (came == ReceiveResult::kTooMany || parts_.size() < 2) {
    ++sessions_.counts().garbage;
    listener.cut(descriptor_of(parts_.back()));
    return true;
  }
  const std::string route = parts_[0].to_string();
  sessions_.take({.listener = &listener, .route = route}, std::span(parts_).subspan(1));
  return true;
}

bool ZmqSockets::receive_from(ZmqDialer& dialer, std::size_t lane) {
  if (!dialer.readable(lane)) return false;
  const ReceiveResult came = receive(*dialer.socket(lane), options_.max_frames + 1, parts_);
  if (came == ReceiveResult::kNothing) return false;
  if (came == ReceiveResult::kTooMany) {
    ++sessions_.counts().garbage;
    return true;
  }
  sessions_.take({.dialer = &dialer, .route = {}, .lane = lane}, parts_);
  return true;
}

}  // namespace forebay
