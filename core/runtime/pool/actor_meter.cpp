#include "core/runtime/pool/actor_meter.h"

namespace forebay {
namespace {

std::chrono::nanoseconds& time_in(ActorTotals& totals, ActorState state) {
  if (state == ActorState::kIdle) return totals.wait_input;
  return state == ActorState::kBusy ? totals.busy : totals.wait_output;
}

}  // namespace

ActorTotals& ActorTotals::operator+=(const ActorTotals& other) {
  busy += other.busy;
  cpu += other.cpu;
  wait_input += other.wait_input;
  wait_output += other.wait_output;
  messages += other.messages;
  bytes += other.bytes;
  done += other.done;
  return *this;
}

ActorMeter::ActorMeter(Time now) {
  now_.since = now;
  shown_.write(now_);
}

void ActorMeter::close_interval(ActorState next, Time now) {
  time_in(now_.totals, now_.state) += now - now_.since;
  now_.state = next;
  now_.since = now;
}

void ActorMeter::start_message(std::uint64_t key, Time now) {
  close_interval(ActorState::kBusy, now);
  now_.key = key;
  shown_.write(now_);
}

void ActorMeter::enter(ActorState state, Time now) {
  close_interval(state, now);
  shown_.write(now_);
}

void ActorMeter::finish_message(std::size_t bytes, Time now, const Service& service) {
  close_interval(ActorState::kIdle, now);
  ++now_.totals.messages;
  now_.totals.bytes += bytes;
  now_.totals.done += service;
  shown_.write(now_);
}

ActorMeter::Reading ActorMeter::read(Time now) const {
  Reading reading = shown_.read();
  if (now > reading.since) time_in(reading.totals, reading.state) += now - reading.since;
  return reading;
}

}  // namespace forebay
