#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace forebay::tuner {

/// Shares CPUs among stages as a kernel does: no actor waits while there are enough CPUs; otherwise
/// every actor's time on a CPU stretches by the same factor f.
///
/// Work is counted in seconds that an actor would need with CPUs for all. All actors of stages with
/// the same share of CPU progress at the same speed, 1/(1 - cpu + cpu·f). Each such share has a
/// clock that runs at this speed and tells when each actor's work ends, so a change of f costs a
/// handful of operations even for hundreds of services.
class CpuShare {
 public:
  CpuShare(const std::vector<double>& cpu, double cpus);

  /// Adds or removes an actor at work in a stage. Takes effect with update().
  void add(std::size_t stage) { change(class_of_[stage], 1); }
  void remove(std::size_t stage) { change(class_of_[stage], -1); }
  void set_cpus(double cpus);

  /// Recomputes f for the actors at work from `now` on; returns false if nothing changed.
  bool update(double now) {
    if (!changed_) return false;
    changed_ = false;
    if (demand_ <= supply_ && stretch_ == 1) return false;
    restretch(now);
    return true;
  }

  /// A stage's clock at a time after the last change.
  double clock(std::size_t stage, double now) const {
    const Class& one = classes_[class_of_[stage]];
    return one.clock + (now - since_) * one.speed;
  }
  /// When a stage's clock will show `at`, if nothing changes.
  double when(std::size_t stage, double at) const {
    const Class& one = classes_[class_of_[stage]];
    return since_ + (at - one.clock) * one.slowness;
  }
  double stretch() const { return stretch_; }

 private:
  /// The stages with one share of CPU.
  struct Class {
    double cpu;
    std::int64_t demand;  // Of one actor.
    std::int32_t busy = 0;
    double clock = 0;
    double speed = 1;
    double slowness = 1;  // 1/speed.
  };

  void change(std::size_t index, std::int32_t by) {
    Class& one = classes_[index];
    one.busy += by;
    demand_ += by * one.demand;
    changed_ = true;
  }
  void restretch(double now);
  double fitting_stretch() const;
  double newton_step(double f) const;

  std::vector<Class> classes_;
  std::vector<std::size_t> class_of_;  // By stage.
  double cpus_ = 0;
  std::int64_t supply_ = 0;
  std::int64_t demand_ = 0;  // CPUs wanted; fixed point, so that adding and removing is exact.
  double stretch_ = 1;
  double since_ = 0;
  bool changed_ = false;
};

}  // namespace forebay::tuner
