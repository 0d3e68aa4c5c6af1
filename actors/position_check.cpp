#include "actors/position_check.h"

#include <string>

#include "actors/epoch_order.h"
#include "actors/rank_walk.h"

namespace forebay {
namespace {

/// The most that `order.epochs` may be.
constexpr std::uint64_t kMostEpochs = 1'000'000'000;

tl::unexpected<Error> refuse(const char* key, const std::string& value, const std::string& why) {
  return fail(Code::kCorrupt,
              "resume refused: the loader state does not fit the dataset: " + std::string(key) +
                  " is " + value + ", but " + why + "; resume from another state, or start anew");
}

tl::unexpected<Error> refuse(const char* key, std::uint64_t value, const std::string& why) {
  return refuse(key, std::to_string(value), why);
}

std::string split_name(std::uint64_t index) { return "split " + std::to_string(index); }

/// Checks one position against its job.
class PositionCheck {
 public:
  PositionCheck(const Position& at, const PositionFacts& facts)
      : at_(at), facts_(facts), order_(facts.dataset, facts.order) {}

  Status check() {
    if (auto status = check_writable_path(); !status) return status;
    if (auto status = check_open_split(); !status) return status;
    if (auto status = check_ahead(); !status) return status;
    whole_ = rows_below(at_.split);
    for (const std::uint32_t distance : at_.ahead) whole_ += rows_in(at_.split + distance);
    if (auto status = check_counted(); !status) return status;
    if (auto status = check_epochs(); !status) return status;
    if (auto status = check_rows(); !status) return status;
    if (auto status = check_batches(); !status) return status;
    return check_digest();
  }

  /// After check(): number of rows left out in those of the current epoch's splits that
  /// were given out whole.
  std::uint64_t left_out() const { return left_out_; }

 private:
  Status check_writable_path() const {
    if (at_.epoch > kMostEpochs) return refuse("epoch", at_.epoch, "no job has so many");
    if (at_.split < order_.num_splits()) return {};
    return refuse("split", at_.split,
                  "an epoch has " + std::to_string(order_.num_splits()) + " splits");
  }

  Status check_open_split() const {
    const bool may_differ = at_.split_rows > 0 && facts_.order.mode == OrderSpec::Mode::kArrival;
    if (!may_differ && at_.open_split != at_.split) {
      return refuse("open_split", at_.open_split, "split is " + std::to_string(at_.split));
    }
    if (at_.open_split < at_.split || at_.open_split >= order_.num_splits()) {
      return refuse("open_split", at_.open_split,
                    "the splits that are left begin at " + std::to_string(at_.split) +
                        ", and an epoch has " + std::to_string(order_.num_splits()));
    }
    if (at_.split_rows == 0) return {};
    const std::uint64_t rows = rows_in(at_.open_split);
    if (at_.split_rows < rows) return {};
    return refuse("split_rows", at_.split_rows,
                  split_name(at_.open_split) + " has " + std::to_string(rows) + " rows");
  }

  Status check_ahead() const {
    if (at_.ahead.empty()) return {};
    if (facts_.order.mode == OrderSpec::Mode::kExact) {
      return refuse("ahead", std::to_string(at_.ahead.size()) + " splits long",
                    "order.mode = \"exact\" gives out none of them early");
    }
    std::uint32_t before = 0;
    for (const std::uint32_t distance : at_.ahead) {
      const std::uint64_t split = at_.split + distance;
      if (distance <= before || split >= order_.num_splits()) {
        return refuse("ahead", "to name " + split_name(split),
                      "it names splits above " + std::to_string(at_.split) +
                          ", each once, and an epoch has " + std::to_string(order_.num_splits()));
      }
      if (at_.split_rows > 0 && split == at_.open_split) {
        return refuse("open_split", at_.open_split, "ahead says that it was given out whole");
      }
      before = distance;
    }
    return {};
  }

  Status check_counted() {
    const std::uint64_t rows = facts_.dataset.rows();
    const std::string all = "the dataset has " + std::to_string(rows) + " rows";
    if (at_.bad_rows > rows) return refuse("bad_rows", at_.bad_rows, all);
    if (at_.held_out > rows - at_.bad_rows) return refuse("held_out", at_.held_out, all);
    if (at_.held_out > 0 && !facts_.holds_out) {
      return refuse("held_out", at_.held_out, "the job holds out no rows");
    }
    if (at_.sampled > rows - at_.bad_rows - at_.held_out)
      return refuse("sampled", at_.sampled, all);
    if (at_.sampled > 0 && !facts_.samples) {
      return refuse("sampled", at_.sampled, "the job has no operator sampling");
    }
    return {};
  }

  // Every epoch gives out the same number of rows; the first epoch counts the rows that are left
  // out.
  Status check_epochs() {
    given_ = at_.rows;
    if (at_.epoch == 0) return {};
    const std::uint64_t sound = facts_.dataset.rows() - at_.counted();
    const std::uint64_t rest = sound % batch_size();
    const std::uint64_t rows = facts_.order.drop_last ? sound - rest : sound;
    const std::uint64_t batches =
        sound / batch_size() + (rest > 0 && !facts_.order.drop_last ? 1 : 0);
    std::uint64_t rows_before = 0;
    const bool too_many = __builtin_mul_overflow(rows, at_.epoch, &rows_before);
    if (too_many || at_.rows < rows_before || at_.rows - rows_before > rows) {
      return refuse("rows", at_.rows,
                    std::to_string(at_.epoch) +
                        " whole epochs and a part of one are meant, each of " +
                        std::to_string(rows) + " rows");
    }
    given_ = at_.rows - rows_before;
    batches_before_ =
        batches * at_.epoch;  // no overflow: there are at most as many batches as rows
    return {};
  }

  // The rows that are still to be left out lie behind the position, since at most one epoch's rows
  // are given out.
  Status check_rows() {
    const std::uint64_t reached = whole_ + at_.split_rows;
    const std::string splits =
        "the splits up to this position have " + std::to_string(reached) + " rows";
    if (given_ > reached) return refuse("rows", at_.rows, splits + ", in its epoch");
    left_out_ = reached - given_;
    if (left_out_ > whole_ || left_out_ > at_.counted() ||
        (at_.epoch == 0 && left_out_ != at_.counted())) {
      return refuse("rows", at_.rows,
                    splits + ", so that " + std::to_string(left_out_) + " were left out, where " +
                        std::to_string(at_.counted()) +
                        " are counted (bad_rows, held_out, sampled)");
    }
    return {};
  }

  Status check_batches() const {
    if (given_ % batch_size() != 0) {
      return refuse("rows", at_.rows,
                    std::to_string(given_) + " in an epoch are no whole batches of " +
                        std::to_string(batch_size()));
    }
    const std::uint64_t batches = batches_before_ + given_ / batch_size();
    if (at_.batches == batches) return {};
    return refuse("batches", at_.batches,
                  std::to_string(at_.rows) + " rows are " + std::to_string(batches));
  }

  Status check_digest() const {
    const bool is_new = at_.digest == Digest{};
    if (is_new == (at_.batches == 0)) return {};
    return refuse("digest", at_.digest.hex(),
                  is_new ? "batches were given out" : "no batch was given out");
  }

  std::uint64_t rows_in(std::uint64_t split) const {
    return order_.rows(at_.epoch, split, split + 1);
  }
  // Rows of the epoch's splits below `split`; counts the smaller part of the epoch.
  std::uint64_t rows_below(std::uint64_t split) const {
    const std::size_t splits = order_.num_splits();
    if (split < splits / 2) return order_.rows(at_.epoch, 0, split);
    return facts_.dataset.rows() - order_.rows(at_.epoch, split, splits);
  }
  std::uint64_t batch_size() const { return facts_.order.batch_size; }

  const Position& at_;
  const PositionFacts& facts_;
  const EpochOrder order_;
  std::uint64_t whole_ = 0;           // rows of the splits given out whole in this epoch
  std::uint64_t given_ = 0;           // rows given out in this epoch
  std::uint64_t batches_before_ = 0;  // batches of the epochs before this one
  std::uint64_t left_out_ = 0;
};

/// Checks the position of a rank.
class RankedPositionCheck {
 public:
  RankedPositionCheck(const Position& at, const PositionFacts& facts, const RowCounts& counts)
      : at_(at), order_(facts.dataset, facts.order), spec_(facts.order), counts_(counts) {}

  Status check() const {
    if (at_.epoch > kMostEpochs) return refuse("epoch", at_.epoch, "no job has so many");
    if (at_.split >= order_.num_splits()) {
      return refuse("split", at_.split,
                    "an epoch has " + std::to_string(order_.num_splits()) + " splits");
    }
    if (at_.open_split != at_.split) {
      return refuse("open_split", at_.open_split, "split is " + std::to_string(at_.split));
    }
    if (!at_.ahead.empty()) {
      return refuse("ahead", std::to_string(at_.ahead.size()) + " splits long",
                    "ranks give out none of them early");
    }
    if (at_.split_rows > 0 && at_.split_rows >= rows_in(at_.split)) {
      return refuse("split_rows", at_.split_rows,
                    split_name(at_.split) + " has " + std::to_string(rows_in(at_.split)) +
                        " rows that remain");
    }
    return check_rows();
  }

 private:
  Status check_rows() const {
    const std::uint64_t remaining = counts_.total();
    const std::uint64_t each = rows_given(remaining, spec_.batch_size, spec_.drop_last);
    std::uint64_t reached = at_.split_rows;
    for (std::uint64_t split = 0; split < at_.split; ++split) reached += rows_in(split);
    std::uint64_t expected = 0;
    const bool too_many = __builtin_mul_overflow(at_.epoch, each, &expected) ||
                          __builtin_add_overflow(expected, reached, &expected);
    if (too_many || at_.rows != expected || reached > each || reached % spec_.batch_size != 0) {
      return refuse("rows", at_.rows,
                    "at this position " + std::to_string(expected) + " were given out, of " +
                        std::to_string(remaining) + " that remain in an epoch");
    }
    const std::uint64_t in_epoch = (each + spec_.batch_size - 1) / spec_.batch_size;
    const std::uint64_t batches = at_.epoch * in_epoch + reached / spec_.batch_size;
    if (at_.batches == batches) return {};
    return refuse("batches", at_.batches,
                  std::to_string(at_.rows) + " rows are " + std::to_string(batches));
  }

  std::uint64_t rows_in(std::uint64_t split) const {
    std::uint64_t rows = 0;
    for (const std::size_t block : order_.block_numbers(at_.epoch, split))
      rows += counts_.of(block);
    return rows;
  }

  const Position& at_;
  const EpochOrder order_;
  const OrderSpec& spec_;
  const RowCounts& counts_;
};

}  // namespace

Result<Position> check_position(const LoaderState& saved, const PositionFacts& facts) {
  PositionCheck check(saved.position, facts);
  if (auto status = check.check(); !status) return pass(status);
  Position position = saved.position;
  position.left_out = check.left_out();
  if (saved.version > 1 && position.left_out != saved.position.left_out) {
    return refuse("left_out", saved.position.left_out,
                  "it is " + std::to_string(position.left_out) + " by the other numbers");
  }
  return position;
}

Result<Position> check_ranked_position(const LoaderState& saved, const PositionFacts& facts,
                                       const RowCounts& counts) {
  const RankedPositionCheck check(saved.position, facts, counts);
  if (auto status = check.check(); !status) return pass(status);
  return saved.position;
}

}  // namespace forebay
