#pragma once

#include "actors/loader_state.h"
#include "actors/pipeline_spec.h"
#include "actors/source/dataset.h"
#include "actors/source/row_counts.h"
#include "core/base/result.h"
#include "core/data/batch.h"

namespace forebay {

/// The job's facts that a position is checked against.
struct PositionFacts {
  const Dataset& dataset;
  const OrderSpec& order;
  bool holds_out = false;  ///< Rows are held out for evaluation (`trainer.evaluate_share` > 0).
  bool samples = false;    ///< Rows are sampled away (TransformPlan::samples).
};

/// Checks every number of a state that was read back against the dataset, the order and the other
/// numbers; kCorrupt names the key that does not fit. Returns the position with `left_out`, which
/// version 1 lacks and which follows from the other numbers. The ReorderBuffer checks the facts
/// that only the splits' content can show. A pure function; visits up to half of the dataset's
/// blocks.
///
/// With R rows and S splits an epoch, X of the rows damaged, held out or sampled away, and G of the
/// R - X others handed out each epoch (all, or as many as fill batches):
///
///   split < S; the splits of `ahead` are above it; `open_split` is not given out, and has more
///   than `split_rows` rows
///   rows - epoch · G = rows of the splits given out whole - left_out + split_rows
///   left_out = X of these splits: all that were counted, in epoch 0
///   batches - epoch · (batches an epoch) = (rows - epoch · G) / batch_size, without a rest
///   no digest before the first batch, and one after it
Result<Position> check_position(const LoaderState& saved, const PositionFacts& facts);

/// The same for the state of a rank (Position::of_ranks), by the rows that remain of each block:
///
///   rows - epoch · G = remaining rows of the splits given out whole + split_rows
Result<Position> check_ranked_position(const LoaderState& saved, const PositionFacts& facts,
                                       const RowCounts& counts);

}  // namespace forebay
