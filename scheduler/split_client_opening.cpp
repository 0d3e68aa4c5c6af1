#include <utility>

#include "scheduler/split_client.h"

// Messages to the head; all are repeated after the head has restarted.
namespace forebay::scheduler {
namespace {

template <class Splits>
std::vector<SplitRange> ranges_of(const Splits& splits) {
  std::vector<SplitRange> ranges;
  for (const auto& [number, split] : splits) {
    if (ranges.empty() || ranges.back().last + 1 != number) {
      ranges.push_back({number, number});
    } else {
      ranges.back().last = number;
    }
  }
  return ranges;
}

}  // namespace

void SplitClient::open(Context& context) {
  next_reconnect_ = context.clock().now() + options_.reconnect;
  HeadRef head = finder_.head();
  if (head.receiver() == nullptr) return;
  head_ = std::move(head);
  asking_ = true;
  ++opening_;
  issuing_ = arriving_ = finishing_ = false;
  // OpenJob contains everything, so no report is pending. If the head does not receive it, the next
  // OpenJob contains everything again.
  to_issue_.clear();
  to_arrive_.clear();
  finished_changed_ = false;
  OpenJob open{.job = options_.job,
               .finished_below = finished_.lowest_missing(),
               .finished = finished_.ahead(),
               .issued = ranges_of(splits_),
               .arrived = {},
               .split_client_address = options_.address,
               .split_client = self(context),
               .min_workers = options_.min_workers};
  for (const auto& [number, split] : splits_) {
    if (split.state == Split::State::kArrived) open.arrived.push_back(number);
  }
  context.ask(head_, std::move(open), options_.ask_timeout, self(context), opening_);
}

Status SplitClient::on(const Answered<OpenJob>& answer, Context& context) {
  if (answer.token != opening_ || !asking_) return {};
  asking_ = false;
  if (!answer.result) {
    reconnect(answer.result.error(), context);
    return {};
  }
  open_ = true;
  session_ = answer.result->session;
  heard_ = context.clock().now();
  why_not_open_.clear();
  watch(head_, ActorRef<Down>(self(context)));
  if (ending_) {
    close(context);
    return {};
  }
  send_issued(context);
  send_arrived(context);
  return {};
}

void SplitClient::reconnect(const Error& why, Context& context) {
  if (open_) gone_since_ = context.clock().now();
  if (why.message != why_not_open_) say("the head cannot be used: " + why.message);
  why_not_open_ = why.message;
  open_ = false;
  asking_ = false;
  ++opening_;
  next_reconnect_ = context.clock().now() + options_.reconnect;
}

// Only one message of each kind is in flight; later changes are sent after it was answered.
template <class Word>
void SplitClient::tell_head(Word word, bool& on_its_way, Context& context) {
  on_its_way = true;
  context.ask(head_, std::move(word), options_.ask_timeout, self(context), opening_);
}

template <class Word>
Status SplitClient::heard(const Answered<Word>& answer, bool& on_its_way, Context& context) {
  if (!is_current(answer.token)) return {};
  on_its_way = false;
  if (!answer.result) {
    reconnect(answer.result.error(), context);
    return {};
  }
  heard_ = context.clock().now();
  send_issued(context);
  send_arrived(context);
  return {};
}

void SplitClient::send_issued(Context& context) {
  if (open_ && !to_issue_.empty()) ask_for_session(context);
}

// An Issue without splits asks whether the head still knows this session.
void SplitClient::ask_for_session(Context& context) {
  if (issuing_) return;
  tell_head(Issue{std::exchange(to_issue_, {}), session_}, issuing_, context);
}

void SplitClient::send_arrived(Context& context) {
  if (!open_ || arriving_ || to_arrive_.empty()) return;
  tell_head(Arrived{std::exchange(to_arrive_, {}), session_}, arriving_, context);
}

// Finished is sent at most once a period: the next tick sends later changes.
void SplitClient::send_finished(Context& context) {
  if (!open_ || finishing_) return;
  finished_changed_ = false;
  tell_head(Finished{finished_.lowest_missing(), finished_.ahead(), session_}, finishing_, context);
}

Status SplitClient::on(const Answered<Issue>& answer, Context& context) {
  return heard(answer, issuing_, context);
}

Status SplitClient::on(const Answered<Arrived>& answer, Context& context) {
  return heard(answer, arriving_, context);
}

Status SplitClient::on(const Answered<Finished>& answer, Context& context) {
  return heard(answer, finishing_, context);
}

void SplitClient::close(Context& context) {
  if (std::exchange(closing_, true)) return;
  close_by_ = context.clock().now() + options_.ask_timeout;
  send_finished(context);
  context.ask(head_, CloseJob{options_.job.id, *ending_, session_}, options_.ask_timeout,
              self(context), opening_);
}

// The trainer ends whatever the head answers: a head that missed the message waits for it for
// `rejoin`.
Status SplitClient::on(const Answered<CloseJob>&, Context& context) {
  finish_closing(context);
  return {};
}

void SplitClient::finish_closing(Context& context) {
  context.stop();
  if (options_.on_closed) options_.on_closed();
}

}  // namespace forebay::scheduler
