#pragma once

#include <map>
#include <string>

#include "actors/format/format.h"
#include "actors/loader_state.h"
#include "actors/source/dataset.h"
#include "actors/transform/transform.h"
#include "core/base/result.h"
#include "engine/job/job_spec.h"

namespace forebay {

/// What the order of a job's batches, and the values in them, depend on.
struct OrderFacts {
  const JobSpec& job;
  const OrderSpec& order;  ///< Of the rows that are read: an evaluation has its own.
  const Dataset& dataset;
  const TransformPlan& plan;
};

/// Returns LoaderState::identity: what a run that goes on from a state must have in common with it.
std::map<std::string, std::string> order_identity(const OrderFacts& facts);

/// Returns a text that differs where other rows of the same files may remain after `filter`.
std::string rows_identity(const OrderFacts& facts, const RowFilter& filter);

/// kInvalid: `saved` is of a version of this program with another order for the dataset of `now`.
Status check_order_version(const LoaderState& saved, const LoaderState& now);

}  // namespace forebay
