#pragma once

#include <cstddef>
#include <vector>

#include "actors/transform/order/step_facts.h"

namespace forebay {

/// Whether `second`, which is written behind `first`, gives the same rows, values, errors and
/// counts if it runs before it.
///
/// Steps of which one changes or makes a column that the other uses keep their order, unless both
/// change one list column in place and one of them cuts the lists: the first x ids of hashed lists
/// are the hashes of the first x ids. Steps that may fail keep their order among each other, so the
/// first failure stays the first, and no step leaves out rows before a step that may fail on them.
bool may_swap(const StepFacts& first, const StepFacts& second);

/// Returns the order in which to run steps that are written in the order of `steps`: a permutation
/// of their indices. Pure.
///
/// Only pairs that may_swap() change places. Among the steps that may come next, the first choice
/// is one that leaves out rows, or is needed for one; then one that goes on with the column of the
/// step before, which is in the cache: one that changes it, else one that makes another column of
/// it; then cuts of lists; then the others as they are written; at last those that make columns.
std::vector<std::size_t> order_of(const std::vector<StepFacts>& steps);

}  // namespace forebay
