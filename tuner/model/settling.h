#pragma once

namespace forebay::tuner {

/// What splits take while long splits settle: after the first one, or a change of their work.
///
/// Of the splits that began then, the short ones end first, and after a change those that began
/// before it end among them. What they take with few actors and with many says nothing about
/// contention, and their time is only a first guess. Settling lasts until as many splits have ended
/// as are under way. A value.
class Settling {
 public:
  /// Begins with an interval that completed `done` splits of `seconds` each; 0: none.
  void begin(double done, double seconds);
  /// Adds an interval that completed `done` > 0 splits, with so many under way in it (a mean).
  void add(double under_way, double done, double seconds);

  bool lasts() const { return lasts_; }
  /// The mean time of the last splits, and how many they are.
  double seconds() const { return seconds_ / done_; }
  double splits() const { return done_; }

 private:
  bool lasts_ = false;
  double completed_ = 0;  // splits since the begin
  double done_ = 0;       // splits, older ones fading
  double seconds_ = 0;    // of those
};

}  // namespace forebay::tuner
