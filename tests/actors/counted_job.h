#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "actors/epoch_order.h"
#include "actors/position_check.h"
#include "actors/reorder_buffer.h"
#include "actors/split_issuer.h"
#include "core/base/random.h"
#include "tests/support/columns.h"
#include "tests/support/fake_dataset.h"

namespace forebay::test {

/// A job over a dataset that is only an index: a split has no content but the number of its
/// damaged, held-out and sound rows, which a hash of each row decides. It runs from any position to
/// its end without a thread.
class CountedJob {
 public:
  struct Shape {
    OrderSpec::Mode mode = OrderSpec::Mode::kExact;
    OrderSpec::Shuffle shuffle = OrderSpec::Shuffle::kAll;
    bool drop_last = false;
    bool damages = false;
    bool holds_out = false;
    std::uint32_t parts = 1;  ///< Of each split; some have no rows.
  };

  explicit CountedJob(const Shape& shape) : shape_(shape), order_(dataset_, spec_of(shape)) {}

  const OrderSpec& spec() const { return spec_; }
  const EpochOrder& order() const { return order_; }
  PositionFacts facts() const {
    return {.dataset = dataset_, .order = spec_, .holds_out = shape_.holds_out};
  }

  struct Ended {
    Status status;
    bool finished = false;   ///< False with a good status: the run would wait for a split for ever.
    Position position;       ///< The end of the run.
    std::uint64_t rows = 0;  ///< Given out by this run.
    std::vector<Position> positions;  ///< After each batch, and at the end.
  };

  /// Runs the rest of the job; in arrival order splits arrive in an order drawn by `seed`.
  Ended run(const Position& start, std::uint64_t seed = 1) {
    Ended ended;
    ended.position = start;
    ended.finished = start.epoch >= spec_.epochs;
    if (ended.finished) return ended;
    Collected sink(ended);
    ReorderBuffer reorder_buffer(spec_, {.splits = order_.num_splits()}, start, pool_, sink);
    SplitQueue queue(order_, spec_.epochs, start);
    std::vector<Split> on_the_way;
    Random random(seed);
    while (ended.status && !reorder_buffer.finished()) {
      for (; on_the_way.size() < kWindow * shape_.parts && queue.front(); queue.pop()) {
        for (std::uint32_t part = 0; part < shape_.parts; ++part) {
          on_the_way.push_back(split(*queue.front(), part));
        }
      }
      if (on_the_way.empty()) return ended;
      const auto next =
          on_the_way.begin() + static_cast<std::ptrdiff_t>(random.below(on_the_way.size()));
      ended.status = reorder_buffer.add(std::move(*next));
      on_the_way.erase(next);
    }
    ended.finished = ended.status && reorder_buffer.finished();
    if (!ended.finished) return ended;
    ended.position = reorder_buffer.position();
    ended.positions.push_back(ended.position);
    return ended;
  }

 private:
  static constexpr std::size_t kWindow = 5;

  struct Collected final : BatchSink {
    explicit Collected(Ended& to) : ended(to) {}
    bool emit(std::shared_ptr<const Batch> batch) override {
      ended.rows += batch->rows;
      ended.positions.push_back(batch->after);
      return true;
    }
    void batched(const SplitId&, bool) override {}
    void repeated(const std::vector<RepeatCount>&) override {}
    Status damaged(const std::vector<BadRow>&) override { return {}; }
    Error newly_damaged(const BadRow&, const std::string&) override { return {}; }
    Ended& ended;
  };

  const OrderSpec& spec_of(const Shape& shape) {
    spec_.mode = shape.mode;
    spec_.shuffle = shape.shuffle;
    spec_.drop_last = shape.drop_last;
    spec_.epochs = 2;
    spec_.batch_size = 50;
    return spec_;
  }

  Split split(const SplitId& id, std::uint32_t part) {
    Split made;
    made.id = id;
    made.part = part;
    made.parts = shape_.parts;
    std::size_t sound = 0;
    for (const BlockRef& block : order_.blocks(id.epoch, id.index)) {
      for (std::uint64_t row = 0; row < block.rows; ++row) {
        const std::uint64_t kind = mix64(mix64(block.file, block.offset), row) % 16;
        if (shape_.damages && kind == 0) {
          made.bad.push_back({});
        } else if (shape_.holds_out && kind == 1) {
          ++made.filtered;
        } else {
          ++sound;
        }
      }
    }
    const std::size_t first = sound * part / shape_.parts;
    const std::size_t end = sound * (part + 1) / shape_.parts;
    made.columns = numbered_rows(id.number * 1000 + first, end - first, pool_);
    if (part > 0) {
      made.bad.clear();
      made.filtered = 0;
    }
    return made;
  }

  // 551 blocks of two rows, 16 to a split: 34 splits of about 32 rows.
  const FakeDataset dataset_{{700, 1, 400}, 2, 20'000};
  const Shape shape_;
  OrderSpec spec_;
  const EpochOrder order_;
  MemoryBudget budget_{std::size_t{1} << 30};
  BufferPool pool_{budget_};
};

}  // namespace forebay::test
