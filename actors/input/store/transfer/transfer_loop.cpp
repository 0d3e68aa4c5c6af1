#include "actors/input/store/transfer/transfer_loop.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "actors/input/store/transfer/store_error.h"
#include "core/base/text/counted.h"
#include "core/base/text/seconds.h"

namespace forebay {
namespace {

constexpr std::chrono::nanoseconds kWatchEvery = std::chrono::milliseconds(10);

/// Whether a failure of libcurl may pass: the network's, not the configuration's.
bool may_pass(CURLcode code) {
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_PARTIAL_FILE:
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_AGAIN:
      return true;
    default:
      return false;
  }
}

/// What is wrong when a failure does not pass, and what to do; `why` where libcurl's words have to
/// do.
std::string describe_lasting(CURLcode code, const ResponseHead& head, const std::string& why) {
  if (code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE) {
    return why + "; set AWS_CA_BUNDLE to a file with the certificate of the store's authority";
  }
  // libcurl takes an answer without a head for HTTP/0.9.
  if (code == CURLE_UNSUPPORTED_PROTOCOL && head.status == 0) {
    return "the answer is not HTTP/1 (" + why +
           "); check the address and its port (of s3:// paths storage.endpoint)";
  }
  return why;
}

std::string advice_on_network(CURLcode code) {
  const bool no_connection = code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_CONNECT ||
                             code == CURLE_COULDNT_RESOLVE_PROXY || code == CURLE_SSL_CONNECT_ERROR;
  return no_connection ? "; check the address, its port and the network (of s3:// paths "
                         "storage.endpoint)"
                       : "; run again when the store answers";
}

}  // namespace

TransferLoop::TransferLoop(const TransferOptions& options, const Clock& clock)
    : options_(options),
      clock_(clock),
      random_(static_cast<std::uint64_t>(clock.now().count())),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      multi_(curl_multi_init(), curl_multi_cleanup) {
  epoll_event event{.events = EPOLLIN, .data = {.fd = wake_.number()}};
  ::epoll_ctl(epoll_.number(), EPOLL_CTL_ADD, wake_.number(), &event);
  const auto set = [this](CURLMoption option, auto value) {
    static_cast<void>(curl_multi_setopt(multi_.get(), option, value));
  };
  set(CURLMOPT_SOCKETFUNCTION, &TransferLoop::on_socket);
  set(CURLMOPT_SOCKETDATA, this);
  set(CURLMOPT_TIMERFUNCTION, &TransferLoop::on_timer);
  set(CURLMOPT_TIMERDATA, this);
  set(CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_NOTHING));
  set(CURLMOPT_MAXCONNECTS, static_cast<long>(options.connections));
}

TransferLoop::~TransferLoop() {
  while (!running_.empty()) stop(running_.begin());
}

int TransferLoop::on_socket(CURL* /*easy*/, curl_socket_t socket, int what, void* self,
                            void* known) {
  auto& loop = *static_cast<TransferLoop*>(self);
  const int epoll = loop.epoll_.number();
  if (what == CURL_POLL_REMOVE) {
    ::epoll_ctl(epoll, EPOLL_CTL_DEL, socket, nullptr);
    return 0;
  }
  std::uint32_t events = 0;
  if ((what & CURL_POLL_IN) != 0) events |= EPOLLIN;
  if ((what & CURL_POLL_OUT) != 0) events |= EPOLLOUT;
  epoll_event event{.events = events, .data = {.fd = socket}};
  if (known != nullptr && ::epoll_ctl(epoll, EPOLL_CTL_MOD, socket, &event) == 0) return 0;
  ::epoll_ctl(epoll, EPOLL_CTL_ADD, socket, &event);
  curl_multi_assign(loop.multi_.get(), socket, self);
  return 0;
}

int TransferLoop::on_timer(CURLM* /*multi*/, long milliseconds, void* self) {
  auto& loop = *static_cast<TransferLoop*>(self);
  loop.curl_due_.reset();
  if (milliseconds >= 0) {
    loop.curl_due_ = loop.clock_.now() + std::chrono::milliseconds(milliseconds);
  }
  return 0;
}

void TransferLoop::add(std::unique_ptr<Fetch> fetch) {
  Fetch* const added = fetch.get();
  fetches_.push_back(std::move(fetch));
  added->urgent ? waiting_.push_front(added) : waiting_.push_back(added);
}

void TransferLoop::for_each(const std::function<void(Fetch&)>& visit) {
  for (const auto& fetch : fetches_) visit(*fetch);
}

void TransferLoop::drop(const std::function<bool(Fetch&)>& drop) {
  for (auto it = fetches_.begin(); it != fetches_.end();) {
    Fetch* const fetch = it->get();
    if (!drop(*fetch)) {
      ++it;
      continue;
    }
    stop_all_of(*fetch);
    std::erase(waiting_, fetch);
    it = fetches_.erase(it);
  }
}

void TransferLoop::wake() const {
  const std::uint64_t one = 1;
  static_cast<void>(!::write(wake_.number(), &one, sizeof one));
}

TransferLoop::Time TransferLoop::next_due(Time now) const {
  Time due = now + std::chrono::hours(1);
  if (curl_due_) due = std::min(due, *curl_due_);
  if (!running_.empty()) due = std::min(due, last_watch_ + kWatchEvery);
  if (running_.size() < options_.connections) {
    for (const Fetch* fetch : waiting_) due = std::min(due, fetch->retry_at);
  }
  return due;
}

int TransferLoop::socket_action(curl_socket_t socket, int events) {
  int still_running = 0;
  curl_multi_socket_action(multi_.get(), socket, events, &still_running);
  return still_running;
}

void TransferLoop::turn(Time most) {
  start_waiting(clock_.now());
  const Time begin = clock_.now();
  const Time wait = std::clamp(next_due(begin) - begin, Time{0}, std::max(most, Time{0}));
  constexpr int kMostEvents = 64;
  std::array<epoll_event, kMostEvents> events{};
  const auto whole = std::chrono::ceil<std::chrono::milliseconds>(wait);
  const int count =
      ::epoll_wait(epoll_.number(), events.data(), kMostEvents, static_cast<int>(whole.count()));
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    if (event.data.fd == wake_.number()) {
      std::uint64_t wakes = 0;
      static_cast<void>(!::read(wake_.number(), &wakes, sizeof wakes));
      continue;
    }
    const bool broken = (event.events & (EPOLLERR | EPOLLHUP)) != 0;
    const int what = ((event.events & EPOLLIN) != 0 ? CURL_CSELECT_IN : 0) |
                     ((event.events & EPOLLOUT) != 0 ? CURL_CSELECT_OUT : 0) |
                     (broken ? CURL_CSELECT_ERR : 0);
    socket_action(event.data.fd, what);
  }
  if (curl_due_ && *curl_due_ <= clock_.now()) {
    curl_due_.reset();
    socket_action(CURL_SOCKET_TIMEOUT, 0);
  }
  take_ends();
  const Time now = clock_.now();
  if (now >= last_watch_ + kWatchEvery) watch(now);
}

void TransferLoop::start_waiting(Time now) {
  for (std::size_t i = 0; i < waiting_.size() && running_.size() < options_.connections;) {
    Fetch* const fetch = waiting_[i];
    if (fetch->retry_at > now) {
      ++i;
      continue;
    }
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
    start(*fetch, now);
  }
}

void TransferLoop::start(Fetch& fetch, Time now) {
  Running& running = running_.emplace_back();
  running.fetch = &fetch;
  running.attempt = fetch.begin(now);
  ++fetch.attempts;
  ++fetch.tries;
  if (idle_.empty()) {
    running.easy = std::make_unique<EasyHandle>();
  } else {
    running.easy = std::move(idle_.back());
    idle_.pop_back();
  }
  const Target& target = fetch.target();
  EasyHandle::Request request{
      .method = fetch.method(),
      .url = target.url,
      .headers = fetch.headers(running.attempt),
      .follow = !target.is_s3(),
      .ca_bundle = options_.ca_bundle,
      .connect_within = std::chrono::ceil<std::chrono::milliseconds>(options_.timeout)};
  if (target.sign) {
    request.headers =
        target.sign(request.method, target.url, std::move(request.headers), std::time(nullptr));
  }
  running.easy->prepare(
      request, {.head = [&running](std::string_view line) { running.attempt.head.add_line(line); },
                .body =
                    [this, &running](std::span<const char> bytes) {
                      running.attempt.progress(clock_.now());
                      if (options_.count) options_.count(0, bytes.size());
                      return running.fetch->take(running.attempt, bytes);
                    }});
  curl_easy_setopt(running.easy->get(), CURLOPT_PRIVATE, &running);
  if (!fetch.last_byte) fetch.last_byte = now;
  hedges_.add_request();
  if (options_.count) options_.count(1, 0);
  curl_multi_add_handle(multi_.get(), running.easy->get());
}

void TransferLoop::take_ends() {
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi_.get(), &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    const CURL* const easy = message->easy_handle;
    const CURLcode code = message->data.result;
    const auto running = std::ranges::find_if(
        running_, [easy](const Running& one) { return one.easy->get() == easy; });
    if (running != running_.end()) ended(running, code, clock_.now());
  }
}

/// Decides what the end of one attempt means for what it was to get.
void TransferLoop::ended(Slot running, CURLcode code, Time now) {
  Fetch& fetch = *running->fetch;
  if (options_.count) {
    options_.count(static_cast<std::size_t>(running->easy->redirects()), 0);
  }
  Fetch::Attempt attempt = std::move(running->attempt);
  const std::string why = code == CURLE_OK ? "" : running->easy->describe(code);
  stop(running);
  const int status = attempt.head.status;
  const bool cut_by_us = code == CURLE_WRITE_ERROR && fetch.needs_head_only;
  const bool answered = (code == CURLE_OK || cut_by_us) && status >= 200 && status < 300;
  if (answered) hedges_.add_longest_wait(attempt.longest_wait);
  if (attempt.at > attempt.first && fetch.is_range()) {
    fetch.last_byte = now;
    fetch.tries = 0;
    fetch.backoff = {};
  }
  if (attempt.error) return finish(fetch, tl::unexpected<Error>(std::move(*attempt.error)));
  if (fetch.is_full()) return finish(fetch, Reply{});
  if (answered && !fetch.is_range()) {
    return finish(fetch, Reply{std::move(attempt.head), std::move(attempt.body)});
  }
  if (answered) return again(fetch, {.what = "the answer ended early"}, now);
  if (code == CURLE_OK) return refused(fetch, std::move(attempt), now);
  if (may_pass(code)) {
    return again(fetch, {.what = why, .advice = advice_on_network(code)}, now);
  }
  finish(fetch, fail(Code::kInvalid, fetch.target().path + " cannot be read: " +
                                         describe_lasting(code, attempt.head, why)));
}

/// An answer of 300 or more: asks again if it may be another one later.
void TransferLoop::refused(Fetch& fetch, Fetch::Attempt attempt, Time now) {
  if (is_worth_repeating(attempt.head, attempt.body)) {
    return again(fetch,
                 {.what = describe_answer(attempt.head, attempt.body),
                  .advice = advice_on_trouble(attempt.head, attempt.body)},
                 now);
  }
  // HEAD has no body that says why; its caller asks again.
  if (fetch.method() == "HEAD") {
    return finish(fetch, Reply{std::move(attempt.head), std::move(attempt.body)});
  }
  const auto error_of = fetch.is_range() ? range_refusal_error : refusal_error;
  finish(fetch, tl::unexpected<Error>(error_of(fetch.target(), attempt.head, attempt.body)));
}

void TransferLoop::stop(Slot running) {
  curl_multi_remove_handle(multi_.get(), running->easy->get());
  --running->fetch->attempts;
  idle_.push_back(std::move(running->easy));
  running_.erase(running);
}

void TransferLoop::stop_all_of(const Fetch& fetch) {
  for (auto it = running_.begin(); fetch.attempts > 0;) {
    const auto next = std::next(it);
    if (it->fetch == &fetch) stop(it);
    it = next;
  }
}

tl::unexpected<Error> TransferLoop::given_up(const Fetch& fetch, const Trouble& trouble,
                                             Time silence) const {
  return fail(Code::kTimeout,
              fetch.target().path + ": no byte came for " + format_whole_seconds(silence) + " in " +
                  format_counted(fetch.tries, "try", "tries") +
                  " (storage.give_up_after); at last: " + trouble.what + trouble.advice);
}

/// Another attempt will follow, unless one is under way.
void TransferLoop::again(Fetch& fetch, const Trouble& trouble, Time now) {
  if (fetch.attempts > 0) return;
  if (now - *fetch.last_byte >= options_.give_up_after) {
    return finish(fetch, given_up(fetch, trouble, now - *fetch.last_byte));
  }
  constexpr Time kSilence = std::chrono::seconds(2);
  if (!announced_ && now - *fetch.last_byte >= kSilence && options_.announce) {
    announced_ = true;
    options_.announce(fetch.target().path + ": no answer yet (" + trouble.what +
                      "); trying again for " + format_whole_seconds(options_.give_up_after) +
                      " (storage.give_up_after)");
  }
  const Time left = options_.give_up_after - (now - *fetch.last_byte);
  fetch.retry_at = now + std::min(fetch.backoff.next(random_), left);
  waiting_.push_front(&fetch);
}

void TransferLoop::finish(Fetch& fetch, Result<Reply> result) {
  if (result) announced_ = false;
  stop_all_of(fetch);
  std::erase(waiting_, &fetch);
  const auto found =
      std::ranges::find_if(fetches_, [&fetch](const auto& one) { return one.get() == &fetch; });
  const std::unique_ptr<Fetch> finished = std::move(*found);
  fetches_.erase(found);
  finished->done(std::move(result));
}

void TransferLoop::watch(Time now) {
  last_watch_ = now;
  for (auto it = running_.begin(); it != running_.end();) {
    const auto next = std::next(it);
    watch_one(it, now);
    it = next;
  }
}

void TransferLoop::watch_one(Slot running, Time now) {
  Fetch& fetch = *running->fetch;
  const Time wait = now - running->attempt.last_progress;
  if (wait >= options_.timeout) {
    if (running->attempt.at > running->attempt.first) {
      fetch.last_byte = running->attempt.last_progress;
      fetch.tries = 1;
    }
    stop(running);
    return again(fetch, {.what = "no byte for " + format_whole_seconds(options_.timeout)}, now);
  }
  if (fetch.hedged || !hedges_.allows(wait)) return;
  hedges_.spend();
  fetch.hedged = true;
  // Without a free connection the new request takes the place of the one that waits.
  if (running_.size() >= options_.connections) stop(running);
  start(fetch, now);
}

}  // namespace forebay
