#include "engine/loader/epoch_passes.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

/// A batch after which the loader is at row `split_rows` of split `split` of epoch `epoch`.
std::shared_ptr<Batch> batch_before(std::uint64_t epoch, std::uint64_t split,
                                    std::uint64_t split_rows = 0) {
  auto batch = std::make_shared<Batch>();
  batch->after.epoch = epoch;
  batch->after.split = split;
  batch->after.split_rows = split_rows;
  return batch;
}

}  // namespace

TEST_CASE("a pass ends with the batch behind which nothing of its epoch is left", "[loader]") {
  EpochPasses passes;
  CHECK(passes.add(batch_before(0, 0, 7)));  // 7 rows of the first split
  CHECK_FALSE(passes.at_end());
  CHECK(passes.add(batch_before(1, 0)));
  CHECK(passes.at_end());
  passes.begin();
  CHECK_FALSE(passes.at_end());
  CHECK(passes.add(batch_before(1, 3)));
  CHECK_FALSE(passes.at_end());
}

TEST_CASE(
    "a pass whose last rows are left out ends with the next epoch's first batch, which is kept",
    "[loader]") {
  EpochPasses passes;
  CHECK(passes.add(batch_before(0, 5)));
  const auto next = batch_before(1, 1);
  next->rows = 3;
  next->after.batches = 8;
  next->after.bad_rows = 2;
  next->after.left_out = 1;
  CHECK_FALSE(passes.add(next));
  CHECK(passes.at_end());
  CHECK(passes.has_kept());
  CHECK(passes.kept_rows() == 3);
  Position last;
  last.split = 5;
  last.batches = 7;
  last.ahead = {2};
  const Position end = passes.end_of_pass(last);
  CHECK(end.epoch == 1);
  CHECK(end.split == 0);
  CHECK(end.ahead.empty());
  CHECK(end.batches == 7);
  CHECK(end.bad_rows == 2);
  CHECK(end.left_out == 0);
  passes.begin();
  CHECK(passes.take_kept() == next);
  CHECK_FALSE(passes.has_kept());
  CHECK(passes.add(next));
  CHECK_FALSE(passes.at_end());
}

TEST_CASE("a pass that begins where an epoch has ended is the next epoch's", "[loader]") {
  EpochPasses passes;
  CHECK(passes.add(batch_before(0, 5)));
  passes.begin();  // the rest of the epoch is left out
  CHECK(passes.add(batch_before(1, 1)));
  CHECK_FALSE(passes.has_kept());
}

TEST_CASE("an epoch may have one batch, and splits may be given out ahead", "[loader]") {
  EpochPasses passes;
  CHECK(passes.add(batch_before(1, 0)));
  CHECK(passes.at_end());
  passes.begin();
  auto ahead = std::make_shared<Batch>();
  ahead->after.epoch = 1;
  ahead->after.ahead = {2};
  CHECK(passes.add(ahead));
  CHECK_FALSE(passes.at_end());
}

}  // namespace forebay
