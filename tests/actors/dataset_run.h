#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "actors/pipeline.h"

#include "tests/support/catch.h"

namespace forebay::test {

/// The batches of a pipeline over a dataset, without operators.
struct DatasetRun {
  struct Options {
    OrderSpec order;
    Position start = {};
    RowFilter filter = {};
    std::size_t most_batches = std::numeric_limits<std::size_t>::max();
    std::vector<std::uint32_t> actors = {1, 1, 1, 1};
    std::function<Status(const std::vector<BadRow>&)> on_damaged = [](const std::vector<BadRow>&) {
      return Status{};
    };
    RankShare share = {};
    const RowCounts* counts = nullptr;
  };

  std::vector<std::int64_t> ids;   ///< All ids of the first sparse feature, in order.
  std::vector<std::size_t> sizes;  ///< The number of these ids in each batch.
  std::vector<Position> after;     ///< The position after each batch.
  Position end;                    ///< The end of the run; after an error, of the last batch.
  Status status;

  Digest digest() const { return after.empty() ? Digest{} : after.back().digest; }
};

inline DatasetRun run_dataset(const Dataset& dataset, const DatasetRun::Options& options) {
  auto plan = TransformPlan::compile({}, dataset.format().schema());
  REQUIRE(plan);
  auto memory = plan_memory({.memory_bytes = 1 << 28, .actors = options.actors},
                            Sizing(dataset, *plan, options.order), 0);
  REQUIRE(memory);
  MemoryBudget budget(1 << 28);
  BufferPool buffers(budget);
  SystemClock clock;
  DatasetRun run;
  Pipeline pipeline({.dataset = dataset,
                     .plan = *plan,
                     .order = options.order,
                     .actors = options.actors,
                     .memory = *memory,
                     .decode = {.filter = options.filter, .keep_origins = false},
                     .start = options.start,
                     .buffers = buffers,
                     .clock = clock,
                     .on_damaged = options.on_damaged,
                     .share = options.share,
                     .counts = options.counts});
  while (run.after.size() < options.most_batches) {
    auto batch = pipeline.next();
    if (!batch) {
      run.status = tl::unexpected(batch.error());
      return run;
    }
    if (*batch == nullptr) {
      run.end = pipeline.end_position();
      return run;
    }
    std::size_t first_feature = 0;
    for (std::size_t row = 0; row < (*batch)->rows; ++row) {
      first_feature += static_cast<std::size_t>((*batch)->lengths[row]);
    }
    run.ids.insert(run.ids.end(), (*batch)->ids, (*batch)->ids + first_feature);
    run.sizes.push_back(first_feature);
    run.end = (*batch)->after;
    run.after.push_back((*batch)->after);
  }
  return run;
}

}  // namespace forebay::test
