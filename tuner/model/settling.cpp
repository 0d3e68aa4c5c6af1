#include "tuner/model/settling.h"

namespace forebay::tuner {
namespace {

constexpr double kMemory = 0.5;  // weight of earlier intervals, per interval

}  // namespace

void Settling::begin(double done, double seconds) {
  lasts_ = true;
  completed_ = done_ = done;
  seconds_ = done * seconds;
}

void Settling::add(double under_way, double done, double seconds) {
  completed_ += done;
  done_ = kMemory * done_ + done;
  seconds_ = kMemory * seconds_ + done * seconds;
  lasts_ = completed_ < under_way;
}

}  // namespace forebay::tuner
