#pragma once

#include <cstdint>
#include <vector>

#include "tuner/agent/lesson.h"
#include "tuner/agent/network.h"

namespace forebay::tuner {

/// Lets an agent tune a random pipeline in the simulator and tries alternatives along the way.
///
/// At each decision some single actions are tried in copies of the simulation, which continue with
/// the same random numbers and differ in that action alone. The difference in reward over the next
/// periods is the lesson. Comparing copies removes common noise: a plain temporal difference would
/// have to find half a per cent in noise of several.
std::vector<Lesson> experiment(std::uint64_t seed, const Network& network);

}  // namespace forebay::tuner
