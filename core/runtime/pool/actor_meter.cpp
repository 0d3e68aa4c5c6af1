#include "core/runtime/pool/actor_meter.h"

#include <bit>

namespace forebay {

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
  const auto passed = static_cast<std::uint64_t>(now.count()) - get(kSince);
  const auto sum = static_cast<Field>(kTimeIdle + get(kState));
  set(sum, get(sum) + passed);
  set(kState, static_cast<std::uint64_t>(next));
  set(kSince, static_cast<std::uint64_t>(now.count()));
}

void ActorMeter::start_message(std::uint64_t key, Time now) {
  begin_write();
  close_interval(ActorState::kBusy, now);
  set(kKey, key);
  end_write();
}

void ActorMeter::enter(ActorState state, Time now) {
  begin_write();
  close_interval(state, now);
  end_write();
}

void ActorMeter::finish_message(std::size_t bytes, Time now, const Service& service) {
  begin_write();
  close_interval(ActorState::kIdle, now);
  set(kMessages, get(kMessages) + 1);
  set(kBytes, get(kBytes) + bytes);
  if (service.actors > 0) add(service);
  end_write();
}

void ActorMeter::add(const Service& service) {
  set(kDoneTime, get(kDoneTime) + static_cast<std::uint64_t>(service.time.count()));
  set(kDoneCpu, get(kDoneCpu) + static_cast<std::uint64_t>(service.cpu.count()));
  set(kDoneReady, get(kDoneReady) + static_cast<std::uint64_t>(service.ready.count()));
  set(kDoneSquared, std::bit_cast<std::uint64_t>(std::bit_cast<double>(get(kDoneSquared)) +
                                                 service.squared_seconds));
  set(kDoneActors, get(kDoneActors) + service.actors);
}

ActorMeter::Reading ActorMeter::read(Time now) const {
  std::array<std::uint64_t, kFields> seen{};
  std::uint64_t before = 0;
  // A value of an unfinished write is read with acquire, so the version read afterwards is odd or
  // larger than before, and the reading is repeated.
  do {
    before = version_.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < kFields; ++i) seen[i] = fields_[i].load(std::memory_order_acquire);
  } while (before % 2 != 0 || version_.load(std::memory_order_relaxed) != before);

  const Time since(static_cast<Time::rep>(seen[kSince]));
  if (now > since)
    seen[kTimeIdle + seen[kState]] += static_cast<std::uint64_t>((now - since).count());
  Reading reading;
  reading.totals.wait_input = Time(static_cast<Time::rep>(seen[kTimeIdle]));
  reading.totals.busy = Time(static_cast<Time::rep>(seen[kTimeBusy]));
  reading.totals.wait_output = Time(static_cast<Time::rep>(seen[kTimeOutput]));
  reading.totals.messages = seen[kMessages];
  reading.totals.bytes = seen[kBytes];
  reading.totals.done = {.time = Time(static_cast<Time::rep>(seen[kDoneTime])),
                         .cpu = Time(static_cast<Time::rep>(seen[kDoneCpu])),
                         .ready = Time(static_cast<Time::rep>(seen[kDoneReady])),
                         .squared_seconds = std::bit_cast<double>(seen[kDoneSquared]),
                         .actors = seen[kDoneActors]};
  reading.state = static_cast<ActorState>(seen[kState]);
  reading.since = since;
  reading.key = seen[kKey];
  return reading;
}

}  // namespace forebay
