#include "core/runtime/pool/actor_meter.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/clock.h"
#include "core/base/text/number.h"

namespace forebay {
namespace {

std::chrono::nanoseconds& time_in(ActorTotals& totals, ActorState state) {
  if (state == ActorState::kIdle) return totals.wait_input;
  return state == ActorState::kBusy ? totals.busy : totals.wait_output;
}

}  // namespace

Service& Service::operator+=(const Service& other) {
  time += other.time;
  cpu += other.cpu;
  ready += other.ready;
  squared_seconds += other.squared_seconds;
  actors += other.actors;
  return *this;
}

ServiceMeter::ServiceMeter()
    : schedstat_(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)), last_(read()) {}

void ServiceMeter::start(Time now, std::size_t actors, bool slept) {
  if (slept) last_ = read();
  service_ = {};
  service_.actors = actors;
  began_ = now;
}

void ServiceMeter::resume(Time now) {
  last_ = read();
  began_ = now;
}

Service ServiceMeter::finish(Time now) {
  pause(now);
  // cpu and ready were read after the clock, on a busy machine much later: limit them to `time`.
  service_.cpu = std::min(service_.cpu, service_.time);
  service_.ready = std::min(service_.ready, service_.time - service_.cpu);
  const Time own = service_.time - service_.ready;
  const double seconds = in_seconds(own);
  service_.squared_seconds = seconds * seconds;
  return service_;
}

void ServiceMeter::pause(Time now) {
  const Reading reading = read();
  service_.time += now - began_;
  service_.cpu += reading.cpu - last_.cpu;
  service_.ready += reading.ready - last_.ready;
  last_ = reading;
  began_ = now;
}

ServiceMeter::Reading ServiceMeter::read() const {
  Reading reading;
  reading.cpu = thread_cpu_time();
  std::array<char, 96> line{};
  const ssize_t size = ::pread(schedstat_.number(), line.data(), line.size(), 0);
  const std::string_view text(line.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  // The second number is the run delay in nanoseconds.
  reading.ready = std::chrono::nanoseconds(second_number<std::int64_t>(text).value_or(0));
  return reading;
}

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

void ActorMeter::close_interval(ActorState next, Time now) {
  time_in(now_.totals, now_.state) += now - now_.since;
  now_.state = next;
  now_.since = now;
}

void ActorMeter::start_message(std::uint64_t key, Time now) {
  const std::lock_guard lock(mutex_);
  close_interval(ActorState::kBusy, now);
  now_.key = key;
}

void ActorMeter::enter(ActorState state, Time now) {
  const std::lock_guard lock(mutex_);
  close_interval(state, now);
}

void ActorMeter::finish_message(std::size_t bytes, Time now, const Service& service) {
  const std::lock_guard lock(mutex_);
  close_interval(ActorState::kIdle, now);
  ++now_.totals.messages;
  now_.totals.bytes += bytes;
  now_.totals.done += service;
}

ActorMeter::Reading ActorMeter::read(Time now) const {
  const std::lock_guard lock(mutex_);
  Reading reading = now_;
  if (now > reading.since) time_in(reading.totals, reading.state) += now - reading.since;
  return reading;
}

}  // namespace forebay
