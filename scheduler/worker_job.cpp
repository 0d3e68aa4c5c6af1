#include "scheduler/worker_actor.h"

namespace forebay::scheduler {

// How a worker handles a job offer.

Status WorkerActor::on(const JobOffer& offer, Context& context) {
  if (offer.incarnation == incarnation_) take_job(offer.job, offer.split_client_address, context);
  return {};
}

void WorkerActor::take_job(const JobShare& job, const std::string& split_client_address,
                           Context& context) {
  if (leave_by_) return;
  split_client_address_ = split_client_address;
  split_client_ = {};
  if (job == job_) {
    if (phase_ == Phase::kRefused) {
      give_back({}, refused_, context);
    } else if (!fingerprint_.empty()) {
      phase_ = Phase::kOpening;
      say_prepared(context);
    }
    return;
  }
  forget_all();
  job_ = job;
  ++opening_;
  fingerprint_.clear();
  trouble_.clear();
  refused_.clear();
  phase_ = Phase::kOpening;
  executor_.open(job_, opening_);
}

void WorkerActor::refuse(const std::string& why) {
  phase_ = Phase::kRefused;
  trouble_ = refused_ = why;
}

Status WorkerActor::on(const WorkOpened& opened, Context& context) {
  if (opened.opening != opening_ || phase_ != Phase::kOpening) return {};
  if (opened.error) {
    refuse(opened.error->message);
    say("cannot open job " + job_.id + ": " + refused_);
    give_back({}, refused_, context);
    return {};
  }
  fingerprint_ = opened.fingerprint;
  say_prepared(context);
  return {};
}

void WorkerActor::say_prepared(Context& context) {
  if (!is_member()) return;
  context.ask(head_, Prepared{incarnation_, fingerprint_}, options_.ask_timeout, self(context),
              incarnation_);
}

Status WorkerActor::on(const Answered<Prepared>& answer, Context& context) {
  if (answer.token != incarnation_ || phase_ != Phase::kOpening) return {};
  if (answer.result) {
    phase_ = Phase::kWorking;
    beat(context);
  } else if (answer.result.error().code == Code::kInvalid) {
    refuse(answer.result.error().message);
    say("refused: " + refused_);
    forget_all();
  }
  return {};
}

Status WorkerActor::on(const JobEnded& ended, Context&) {
  if (ended.job != job_.id || phase_ == Phase::kGone) return {};
  const WorkerStatus last = status();
  forget_all();
  job_ = {};
  fingerprint_.clear();
  ++opening_;
  if (phase_ != Phase::kLeaving) phase_ = Phase::kIdle;
  if (options_.on_job_ended) options_.on_job_ended(ended.error, last);
  return {};
}

}  // namespace forebay::scheduler
