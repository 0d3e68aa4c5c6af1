#include "scheduler/demand_meter.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace forebay::scheduler {
namespace {

constexpr double kEnoughSplits = 8;
constexpr double kLongest = 30;        // seconds to wait for them
constexpr double kWaits = 0.5;         // a share of waiting that says enough without splits
constexpr double kLeastWorked = 0.05;  // of the time; less is not measurable
constexpr double kDeparted = 0.2;      // relative
constexpr double kNew = 0.3;           // weight of the last rate in the mean

}  // namespace

bool DemandMeter::add(const ScaleInput& input) {
  sum_.seconds += input.seconds;
  sum_.taken += input.taken;
  sum_.waited += input.waited;
  if (sum_.seconds <= 0) return false;
  starved_ = std::clamp(sum_.waited / sum_.seconds, 0.0, 1.0);
  const bool enough = sum_.taken >= kEnoughSplits || sum_.seconds >= kLongest || starved_ >= kWaits;
  if (!enough) return false;
  const ScaleInput whole = std::exchange(sum_, {});
  taken_ = whole.taken / whole.seconds;
  const double worked = std::max(whole.seconds - whole.waited, kLeastWorked * whole.seconds);
  if (whole.taken > 0 || starved_ < kWaits) follow(whole.taken / worked);
  return true;
}

void DemandMeter::follow(double rate) {
  const bool departs = std::abs(rate - demand_) > kDeparted * demand_;
  const bool believed = demand_ == 0 || departed_;
  departed_ = departs && !believed;
  if (departs && believed) demand_ = rate;
  if (!departs) demand_ += kNew * (rate - demand_);
}

}  // namespace forebay::scheduler
