#include "core/net/zmq/zmq_loop.h"

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
      wake_fd_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      waiting_work_(
          std::make_shared<ZmqWaitingWork>([this](const auto& done) { help_until(done); })) {
  FOREBAY_CHECK(wake_fd_);
  sockets_.watch(wake_fd_.number());
  sockets_.watch(waiting_work_->descriptor());
}

ZmqLoop::~ZmqLoop() { stop(); }

void ZmqLoop::start(TransportHandler& handler) {
  FOREBAY_CHECK(threads_.empty());
  handler_ = &handler;
  sessions_.start(handler);
  for (const bool works : {true, false}) {
    threads_.push_back(start_thread("the network", [this, works] { run(works); }));
  }
}

void ZmqLoop::stop() {
  if (!threads_.empty()) post([this] { stopping_ = true; });
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  waiting_work_->end();
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
    const std::lock_guard lock(mutex_);                         // No thread takes over meanwhile.
    if (turn_.is_mine()) return answering_.push_back(session);  // A callback sends.
    announced_.push_back(session);
  }
  wake();
}

void ZmqLoop::wake() {
  if (sleeping_.exchange(false)) wake_always();
}

void ZmqLoop::wake_always() {
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
  if (turn_.is_mine() && !standby_.in_work()) return sockets_.listen(parts);
  std::promise<Result<std::string>> opened;
  post([&] { opened.set_value(sockets_.listen(parts)); });
  return opened.get_future().get();
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
  post([this, address, parts] { sockets_.dial(address, parts, now_); });
  return {};
}

void ZmqLoop::disconnect(const std::string& address) {
  post([this, address] { sockets_.hang_up(address); });
}

class ZmqLoop::Sender final : public SessionSender {
 public:
  Sender(ZmqLoop& loop, SessionPtr session) : loop_(loop), session_(std::move(session)) {}
  Status send(Lane lane, std::span<const std::byte> head, Frames body) override {
    return loop_.send_to(session_, lane, head, std::move(body));
  }

 private:
  ZmqLoop& loop_;
  const SessionPtr session_;
};

std::shared_ptr<SessionSender> ZmqLoop::sender(PeerId peer) {
  SessionPtr session = sessions_.find(peer);
  if (session == nullptr) return Transport::sender(peer);
  return std::make_shared<Sender>(*this, std::move(session));
}

Status ZmqLoop::send(PeerId peer, Lane lane, std::span<const std::byte> head, Frames body) {
  const SessionPtr session = sessions_.find(peer);
  if (session == nullptr) return fail(Code::kUnavailable, "the session with the peer is over");
  return send_to(session, lane, head, std::move(body));
}

Status ZmqLoop::send_to(const SessionPtr& session, Lane lane, std::span<const std::byte> head,
                        Frames&& body) {
  const auto too_large = [&](const Frame& frame) {
    return frame.size() > options_.max_frame_bytes;
  };
  if (head.size() + 64 > options_.max_frame_bytes || body.size() > options_.max_frames ||
      std::ranges::any_of(body, too_large)) {
    return fail(Code::kInvalid, "a message of " + std::to_string(head.size() + bytes_of(body)) +
                                    " bytes is larger than peers accept");
  }
  Result<bool> first = session->outbox.add(lane, head, std::move(body));
  if (!first) return pass(first);
  if (*first && !send_at_once(session)) announce(session);
  return {};
}

bool ZmqLoop::send_at_once(const SessionPtr& session) {
  if (!sleeping_.load(std::memory_order_relaxed)) return false;
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

void ZmqLoop::run(bool works) {
  if (works) turn_.lock();
  while (works || standby_.take_over(options_.heartbeat)) {
    if (keep_working()) return;
    works = false;
  }
}

/// Returns true at the end, false if the other thread took over.
bool ZmqLoop::keep_working() {
  while (!stopping_) {
    if (!take_turn(false)) return false;
    sleep();
  }
  sessions_.end_all({Code::kUnavailable, "this node stops"});
  sockets_.close_all();
  turn_.unlock();
  standby_.end();
  return true;
}

/// Returns false if the other thread took over meanwhile: then the transport is not this thread's.
bool ZmqLoop::take_turn(bool is_helped) {
  begin_turn(is_helped);
  while (receive_some()) {
    if (!is_helped && !standby_.do_work(*handler_)) return false;
    answer_first();
  }
  send_all();
  return true;
}

void ZmqLoop::begin_turn(bool is_helped) {
  now_ = clock_.now();
  sessions_.advance_to(now_, is_helped);
  if (now_ >= next_tick_) tick();
  run_orders();
  sockets_.begin_turn(now_);
}

/// Receives one more message of this turn, or delivers more of the last one; false if there are no
/// more.
bool ZmqLoop::receive_some() {
  if (sessions_.deliver_some()) return true;
  if (!sockets_.receive_next()) return false;
  standby_.renew();
  sessions_.deliver_some();
  return true;
}

void ZmqLoop::help_until(const std::function<bool()>& done) {
  if (turn_.is_mine()) return;  // A callback waits: nothing can come before it returns.
  while (waiting_work_->waits(done)) {
    ZmqSockets::Events events;
    const auto came = sockets_.wait(events, -1);
    waiting_work_->woke();
    const std::lock_guard turn(turn_);
    if (stopping_) return;
    take_events(came, true);
    bool more = true;
    while (more && !stopping_ && !done()) {
      take_turn(true);
      more = sockets_.has_unread() || (deeply_ && !may_sleep());
    }
    // The rest is for the transport's own thread: also to try again what a peer does not take.
    if (more || stopping_ || !unsent_.empty()) wake_always();
  }
}

void ZmqLoop::run_orders() {
  std::vector<std::function<void()>> orders;
  {
    const std::lock_guard lock(mutex_);
    orders.swap(orders_);
  }
  for (const auto& order : orders) order();
}

void ZmqLoop::take_events(std::span<const epoll_event> events, bool is_helped) {
  for (const epoll_event& event : events) {
    const int fd = event.data.fd;
    if (fd == waiting_work_->descriptor() && !is_helped) waiting_work_->pass_on();
    sockets_.take_signal(fd);
  }
}

/// From here on other threads wake this one. False if they have left something before.
bool ZmqLoop::may_sleep() {
  sleeping_.store(true);
  const std::lock_guard lock(mutex_);
  return orders_.empty() && announced_.empty();
}

void ZmqLoop::sleep() {
  if (sockets_.has_unread()) return;
  const Time now = clock_.now();
  Time wait = std::max(next_tick_ - now, Time(0));
  if (!unsent_.empty()) wait = std::min<Time>(wait, kBlockedPause);
  const bool streams = std::exchange(streaming_, false);  // Messages sent meanwhile wake no thread.
  if (!streams && !may_sleep()) wait = Time(0);
  deeply_ = !streams;
  turn_.unlock();
  if (streams) {
    sockets_.wait_briefly(std::min<Time>(wait, kStreamGap));
    wait = Time(0);
  } else if (waiting_work_->wait_behind(wait)) {
    wait = std::max(now + wait - clock_.now(), Time(0));
  }
  ZmqSockets::Events events;
  const auto came = sockets_.wait(
      events, static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(wait).count()));
  turn_.lock();
  deeply_ = false;
  sleeping_.store(false);
  slept_ = true;
  take_events(came, false);
}

void ZmqLoop::tick() {
  next_tick_ = now_ + std::clamp<Time>(sessions_.beat_every() / 2, std::chrono::milliseconds(1),
                                       std::chrono::milliseconds(50));
  sessions_.tick();
  sockets_.tick(now_);
  const std::lock_guard lock(mutex_);
  published_counts_ = sessions_.counts();
}

/// After the first message of a socket, sends what callbacks have sent: a single question is
/// answered as soon as possible, and answers to many still share parcels.
void ZmqLoop::answer_first() {
  if (sockets_.gave_first() && !sessions_.delivers() && !answering_.empty()) send_all();
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
  for (SessionPtr& session : answering_) sessions.push_back(std::move(session));
  answering_.clear();
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

}  // namespace forebay
