#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/skip_note.h"

#include "tests/support/catch.h"

namespace forebay::test {

/// A figure of a run in real time beside the figure that was computed for it.
struct ComparedFigure {
  std::string name;
  double real = 0;
  double computed = 0;
  double margin = 0;  // on top of 5 %: what one more or one fewer event at the edges changes

  bool agrees() const { return std::abs(real - computed) <= 0.05 * std::abs(computed) + margin; }
};

/// Checks that runs in real time agree with the computed figures, within 5 %, in one of three runs.
///
/// `run` makes one run and returns its figures, or nothing if this machine's threads woke too late
/// for a comparison. Other programs can disturb a run in ways that lateness does not show; a wrong
/// emulation disagrees in each of them. If no run could be compared, the check is noted as skipped.
template <class Run>
void check_agreement(const std::string& what, Run run) {
  std::optional<std::vector<ComparedFigure>> compared;
  for (int i = 0; i < 3; ++i) {
    if (auto now = run()) compared = std::move(now);
    if (compared && std::ranges::all_of(*compared, &ComparedFigure::agrees)) break;
  }
  if (!compared) note_skipped("this machine is too busy to compare " + what);
  for (const ComparedFigure& each : compared.value_or(std::vector<ComparedFigure>())) {
    INFO(each.name << ": " << each.real << " in real time, " << each.computed << " computed");
    CHECK(each.agrees());
  }
}

}  // namespace forebay::test
