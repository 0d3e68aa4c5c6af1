#include "core/net/zmq/zmq_loop.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <future>
#include <utility>

#include "core/base/check.h"
#include "core/base/thread/start_thread.h"
#include "core/net/host_port.h"

namespace forebay {
namespace {

/// Messages that follow each other within this time form a stream; a stream gathers for as long.
constexpr std::chrono::microseconds kStreamGap{50};

/// The pause before retrying a peer that accepts no messages at the moment.
constexpr std::chrono::milliseconds kBlockedPause{2};

/// If at least this many bytes were sent at once, more are likely to follow soon.
constexpr std::size_t kStreamBytes = 1024;

/// The maximum number of messages read from one socket before the other sockets are served.
constexpr int kTurn = 64;

/// Whether a socket holds an unread message; clears `fresh` if it does not.
bool has_come(PolledSocket& polled) {
  polled.fresh = polled.fresh && is_ready(polled.socket, ZMQ_POLLIN);
  return polled.fresh;
}

}  // namespace

std::unique_ptr<ZmqTransport> ZmqTransport::make(Options options, const Clock& clock) {
  return std::make_unique<ZmqLoop>(std::move(options), clock);
}

ZmqLoop::ZmqLoop(Options options, const Clock& clock)
    : options_(std::move(options)),
      clock_(clock),
      wake_fd_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  FOREBAY_CHECK(wake_fd_);
}

ZmqLoop::~ZmqLoop() { stop(); }

void ZmqLoop::start(TransportHandler& handler) {
  FOREBAY_CHECK(!thread_);
  sessions_.start(handler);
  const std::lock_guard turn(turn_);  // The new thread waits for this lock until its id is stored.
  thread_ = start_thread("the network", [this] { run(); });
  thread_id_ = thread_->get_id();
}

void ZmqLoop::stop() {
  if (!thread_) return;
  post([this] { stopping_ = true; });
  thread_->join();
  thread_.reset();
}

void ZmqLoop::post(std::function<void()> order) {
  {
    const std::lock_guard lock(mutex_);
    orders_.push_back(std::move(order));
  }
  wake();
}

void ZmqLoop::announce(const SessionPtr& session) {
  {
    const std::lock_guard lock(mutex_);
    announced_.push_back(session);
  }
  wake();
}

void ZmqLoop::wake() {
  if (!sleeping_.exchange(false)) return;
  const std::uint64_t one = 1;
  static_cast<void>(!::write(wake_fd_.number(), &one, sizeof(one)));
}

Result<std::string> ZmqLoop::listen(const std::string& address) {
  if (Status allowed = check_address_policy(address, options_.keys.has_value()); !allowed)
    return pass(allowed);
  if (options_.keys && !options_.keys->server_secret) {
    return fail(Code::kInvalid, "listening at " + address + " needs " + options_.keys->folder +
                                    "/server.key_secret");
  }
  const HostPort parts = *parse_address(address);
  if (std::this_thread::get_id() == thread_->get_id()) return open(parts);
  std::promise<Result<std::string>> opened;
  post([&] { opened.set_value(open(parts)); });
  return opened.get_future().get();
}

Result<std::string> ZmqLoop::open(const HostPort& address) {
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

Status ZmqLoop::connect(const std::string& address) {
  if (Status allowed = check_address_policy(address, options_.keys.has_value()); !allowed)
    return allowed;
  const HostPort parts = *parse_address(address);
  if (parts.port == 0)
    return fail(Code::kInvalid,
                "address " + address + ": port 0 cannot be connected to; give the peer's port");
  if (options_.keys && !options_.keys->client) {
    return fail(Code::kInvalid, "connecting to " + address + " needs " + options_.keys->folder +
                                    "/client.key and client.key_secret");
  }
  post([this, address, parts] {
    const bool known =
        std::ranges::any_of(dialers_, [&](const auto& one) { return one->address() == address; });
    if (known) return;
    dialers_.push_back(std::make_unique<ZmqDialer>(address, parts, options_));
    dialers_.back()->connect(context_, now_);
  });
  return {};
}

void ZmqLoop::disconnect(const std::string& address) {
  post([this, address] {
    const auto found =
        std::ranges::find_if(dialers_, [&](const auto& one) { return one->address() == address; });
    if (found == dialers_.end()) return;
    if (const SessionPtr session = sessions_.find((*found)->session())) {
      sessions_.end(session, {Code::kUnavailable, "disconnected"}, true);
    }
    dialers_.erase(found);
  });
}

Status ZmqLoop::send(PeerId peer, Lane lane, std::span<const std::byte> head, Frames body) {
  const auto too_large = [&](const Frame& frame) {
    return frame.size() > options_.max_frame_bytes;
  };
  if (head.size() + 64 > options_.max_frame_bytes || body.size() > options_.max_frames ||
      std::ranges::any_of(body, too_large)) {
    return fail(Code::kInvalid, "a message of " + std::to_string(head.size() + bytes_of(body)) +
                                    " bytes is larger than peers accept");
  }
  const SessionPtr session = sessions_.find(peer);
  if (session == nullptr) return fail(Code::kUnavailable, "the session with the peer is over");
  Result<bool> first = session->outbox.add(lane, head, std::move(body));
  if (!first) return pass(first);
  if (*first && !send_at_once(session)) announce(session);
  return {};
}

bool ZmqLoop::send_at_once(const SessionPtr& session) {
  if (!sleeping_.load(std::memory_order_relaxed)) return false;
  if (std::this_thread::get_id() == thread_id_) return false;
  const std::unique_lock turn(turn_, std::try_to_lock);
  if (!turn.owns_lock() || sessions_.find(session->number) == nullptr) return false;
  const Time now = clock_.now();
  if (now - std::exchange(session->last_sent, now) < kStreamGap || session->has_unsent()) {
    return false;
  }
  session->outbox.heard();
  sessions_.flush(*session);
  // Sending may have consumed the signal of a received message, so the sleeping thread would miss
  // it.
  const bool came = has_come(session->socket(0)) || has_come(session->socket(1));
  if (session->has_unsent()) unsent_.push_back(session);
  if (came || session->has_unsent()) wake();
  return true;
}

void ZmqLoop::close(PeerId peer, const std::string& reason) {
  post([this, peer, reason] {
    const SessionPtr session = sessions_.find(peer);
    if (session == nullptr) return;
    session->closing = reason;
    const std::lock_guard lock(mutex_);
    announced_.push_back(session);
  });
}

TransportCounts ZmqLoop::counts() const {
  const std::lock_guard lock(mutex_);
  return published_counts_;
}

void ZmqLoop::run() {
  std::unique_lock turn(turn_);
  while (!stopping_) {
    now_ = clock_.now();
    sessions_.advance_to(now_);
    if (now_ >= next_tick_) tick();
    run_orders();
    receive_all();
    send_all();
    sleep(turn);
  }
  finish();
}

void ZmqLoop::run_orders() {
  std::vector<std::function<void()>> orders;
  {
    const std::lock_guard lock(mutex_);
    orders.swap(orders_);
  }
  for (const auto& order : orders) order();
}

void ZmqLoop::sleep(std::unique_lock<std::mutex>& turn) {
  std::vector<pollfd> waits = {{wake_fd_.number(), POLLIN, 0}};
  std::vector<PolledSocket*> sockets = {nullptr};
  const auto wait_for = [&](PolledSocket& polled) {
    waits.push_back({polled.fd, POLLIN, 0});
    sockets.push_back(&polled);
  };
  for (const auto& listener : listeners_) {
    wait_for(listener->router());
    wait_for(listener->monitor());
  }
  for (const auto& dialer : dialers_) {
    for (std::size_t lane = 0; lane < 2; ++lane) {
      if (dialer->readable(lane)) wait_for(*dialer->socket(lane));
    }
  }
  if (zap_) wait_for(zap_->socket());
  const auto fresh = [](const PolledSocket* polled) { return polled != nullptr && polled->fresh; };
  if (std::ranges::any_of(sockets, fresh)) return;
  Time wait = std::max(next_tick_ - clock_.now(), Time(0));
  if (!unsent_.empty()) wait = std::min<Time>(wait, kBlockedPause);
  if (std::exchange(streaming_, false)) {
    wait = std::min<Time>(wait, kStreamGap);  // Messages sent meanwhile need not wake the thread.
  } else {
    sleeping_.store(true);
    const std::lock_guard lock(mutex_);
    if (!orders_.empty() || !announced_.empty()) wait = Time(0);
  }
  timespec until{};
  until.tv_sec = std::chrono::duration_cast<std::chrono::seconds>(wait).count();
  until.tv_nsec = (wait % std::chrono::seconds(1)).count();
  turn.unlock();
  ::ppoll(waits.data(), waits.size(), &until, nullptr);
  turn.lock();
  sleeping_.store(false);
  slept_ = true;
  for (std::size_t i = 1; i < waits.size(); ++i) {
    if (waits[i].revents != 0) sockets[i]->fresh = true;
  }
  std::uint64_t wakes = 0;
  if ((waits[0].revents & POLLIN) != 0)
    static_cast<void>(!::read(wake_fd_.number(), &wakes, sizeof(wakes)));
}

void ZmqLoop::tick() {
  next_tick_ = now_ + std::clamp<Time>(sessions_.beat_every() / 2, std::chrono::milliseconds(1),
                                       std::chrono::milliseconds(50));
  sessions_.tick();
  keep_dialers();
  for (const auto& listener : listeners_) listener->limit_unauthenticated(now_, sessions_.counts());
  if (zap_) {
    zap_->look(now_);
    sessions_.counts().refused_keys = zap_->refused();
  }
  const std::lock_guard lock(mutex_);
  published_counts_ = sessions_.counts();
}

void ZmqLoop::receive_all() {
  for (const auto& listener : listeners_) {
    if (listener->read_monitor(now_)) {
      listener->limit_unauthenticated(now_, sessions_.counts());
    }
    receive_from(*listener);
  }
  for (std::size_t i = 0; i < dialers_.size(); ++i) {
    for (std::size_t lane = 0; lane < 2; ++lane) receive_from(*dialers_[i], lane);
  }
  if (zap_) zap_->serve(now_);
}

void ZmqLoop::receive_from(ZmqListener& listener) {
  for (int i = 0; i < kTurn; ++i) {
    const ReceiveResult came = receive(listener.router(), options_.max_frames + 2, parts_);
    if (came == ReceiveResult::kNothing) return;
    if (came == ReceiveResult::kTooMany || parts_.size() < 2) {
      ++sessions_.counts().garbage;
      listener.cut(descriptor_of(parts_.back()));
      continue;
    }
    const std::string route = parts_[0].to_string();
    sessions_.take({.listener = &listener, .route = route}, std::span(parts_).subspan(1));
  }
}

void ZmqLoop::receive_from(ZmqDialer& dialer, std::size_t lane) {
  for (int i = 0; i < kTurn; ++i) {
    if (!dialer.readable(lane)) return;
    const ReceiveResult came = receive(*dialer.socket(lane), options_.max_frames + 1, parts_);
    if (came == ReceiveResult::kNothing) return;
    if (came == ReceiveResult::kTooMany) {
      ++sessions_.counts().garbage;
      continue;
    }
    sessions_.take({.dialer = &dialer, .route = {}, .lane = lane}, parts_);
  }
}

void ZmqLoop::send_all() {
  // Sessions whose peer accepts nothing at the moment are retried once in a while.
  std::vector<SessionPtr> sessions;
  if (std::exchange(slept_, false)) sessions.swap(unsent_);
  const std::size_t blocked = sessions.size();
  {
    const std::lock_guard lock(mutex_);
    for (SessionPtr& session : announced_) {
      const auto end = sessions.begin() + static_cast<std::ptrdiff_t>(blocked);
      if (std::find(sessions.begin(), end, session) == end) sessions.push_back(std::move(session));
    }
    announced_.clear();
  }
  std::size_t sent = 0;
  for (const SessionPtr& session : sessions) {
    if (sessions_.find(session->number) == nullptr) continue;
    session->outbox.heard();
    session->last_sent = now_;
    sent += sessions_.flush(*session);
    if (session->has_unsent()) {
      if (std::ranges::find(unsent_, session) == unsent_.end()) unsent_.push_back(session);
    } else if (session->closing) {
      sessions_.end(session, {Code::kUnavailable, "closed: " + *session->closing}, true);
    }
  }
  streaming_ = streaming_ || sent >= kStreamBytes;
}

void ZmqLoop::keep_dialers() {
  for (const auto& dialer : dialers_) {
    if (dialer->too_late(now_)) dialer->give_up(now_);
    if (dialer->due(now_)) dialer->connect(context_, now_);
  }
}

void ZmqLoop::finish() {
  sessions_.end_all({Code::kUnavailable, "this node stops"});
  dialers_.clear();
  listeners_.clear();
  zap_.reset();
}

}  // namespace forebay
