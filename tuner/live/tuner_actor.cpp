#include "tuner/live/tuner_actor.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/base/clock.h"

namespace forebay::tuner {
namespace {

using Time = TunerActor::Time;

/// The first multiple of `unit` after `time`.
Time next_multiple(Time time, Time unit) { return (time / unit + 1) * unit; }

}  // namespace

TunerActor::TunerActor(const Options& options)
    : period_(options.period), present_(options.present), tuner_(options.make_tuner()) {
  FOREBAY_CHECK(period_ >= kStep);
}

TunerActor::~TunerActor() {
  if (timers_ != nullptr) timers_->cancel(step_key_);
}

Status TunerActor::on(const BeginTuning&, Context& context) {
  if (timers_ != nullptr) return fail(Code::kInvalid, "the tuner has begun already");
  timers_ = &self(context).receiver()->host().timers();
  begin_ = context.clock().now();
  next_decision_ = period_;
  wait_for_next_step(context);
  return {};
}

Status TunerActor::on(const SetMode& order, Context&) {
  tuner_->set_mode(order.mode);
  return {};
}

Status TunerActor::on(const StepDue&, Context& context) {
  const Time cpu_before = thread_cpu_time();
  const bool present = is_present();
  tuner_->step();  // A limit that falls while the pipeline is away holds when it is back.
  if (const Time now = since_begin(context); now >= next_decision_) {
    if (present) {
      last_ = tuner_->decide();
    } else {
      tuner_->skip();
    }
    next_decision_ = next_multiple(std::max(now, since_begin(context)), period_);
  }
  cpu_ += thread_cpu_time() - cpu_before;
  wait_for_next_step(context);
  return {};
}

Result<TunerStatus> TunerActor::on(const AskTunerStatus&, Context& context) {
  return TunerStatus{.mode = tuner_->mode(),
                     .last = last_,
                     .seconds = timers_ == nullptr ? 0 : in_seconds(since_begin(context)),
                     .cpu_seconds = in_seconds(cpu_)};
}

void TunerActor::wait_for_next_step(Context& context) {
  const Time due = std::min(next_multiple(since_begin(context), kStep), next_decision_);
  step_key_ = timers_->add(begin_ + due, [tuner = self(context)] {
    static_cast<void>(tuner.tell(StepDue{}));  // The actor may have ended by now.
  });
}

Time TunerActor::since_begin(const Context& context) const {
  return context.clock().now() - begin_;
}

}  // namespace forebay::tuner
