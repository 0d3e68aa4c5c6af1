#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/pipeline_spec.h"
#include "actors/stage_list.h"
#include "actors/transform/kernels.h"
#include "core/base/result.h"
#include "core/data/buffer_pool.h"
#include "core/data/column_set.h"
#include "core/data/most_ids.h"
#include "core/data/schema.h"

namespace forebay {

/// What steps keep from one split of an actor to the next, such as processes. Belongs to the
/// actor's thread.
class StepStates {
 public:
  class Kept {
   public:
    virtual ~Kept() = default;
  };

  /// Returns what `owner` keeps here; null at first.
  std::unique_ptr<Kept>& of(const void* owner) { return kept_[owner]; }

  /// Whether the run is being stopped: a step that waits gives up, and its split is dropped.
  std::function<bool()> cancelled = {};

 private:
  std::map<const void*, std::unique_ptr<Kept>> kept_;
};

/// The inputs of a transform beside its columns; all fixed by the job, so the result never depends
/// on timing.
struct TransformContext {
  BufferPool& pool;
  std::uint64_t seed = 0;                 ///< `order.seed`
  const std::vector<std::string>& files;  ///< Names for errors, by file number.
  StepStates* actor = nullptr;            ///< Null: nothing is kept.
  /// Whether rows' origins hold their numbers in the files, from 0, and not their first bytes.
  bool numbers_rows = false;
};

class ColumnSlots;
struct PlainColumn;
struct StepFacts;
struct StepRun;

/// An operator as written, or a step as run, for those who look at a plan. A value.
struct PlannedStep {
  /// Numbers, from 0: several where they share one pass.
  std::vector<std::size_t> operators = {};
  std::string name = {};                  ///< "log1p", or "fill, clamp, log1p" for several.
  std::vector<std::string> columns = {};  ///< Those that it writes.
  std::string stage = {};
  double predicted = 0;  ///< Nanoseconds of CPU a row, by a table of guesses.
  std::optional<double> measured = std::nullopt;  ///< The same as runs have measured it.
};

/// A job's operator list, checked and bound to its columns: a pure function from the rows of a
/// split to rows.
///
/// Immutable once compiled; any thread may run it.
class TransformPlan {
 public:
  class Step;

  /// Checks `specs` against the decoder's schema. kInvalid names the transform (its number and op)
  /// and the key: an unknown op or parameter (with the nearest known name), a glob that matches
  /// nothing, a column of the wrong kind, a value out of range.
  static Result<TransformPlan> compile(const std::vector<TransformSpec>& specs,
                                       const Schema& input) {
    return compile(specs, input, Options{});
  }

  /// What becomes of values that are still missing after the last operator.
  enum class Missing : std::uint8_t { kZero, kKept };
  struct Options {
    Missing missing = Missing::kZero;
    /// Whether steps run in another order than the one in which they are written, and several in
    /// one pass (operator_order.h): never with another result.
    bool optimize = true;
  };
  static Result<TransformPlan> compile(const std::vector<TransformSpec>& specs, const Schema& input,
                                       const Options& options);

  TransformPlan(TransformPlan&&) noexcept;
  TransformPlan& operator=(TransformPlan&&) noexcept;
  ~TransformPlan();

  /// The schema after the last operator: what the model sees.
  const Schema& output() const { return output_; }

  /// Whether the decoder must fill ColumnSet::origins (sampling, UDFs).
  bool needs_origins() const;

  /// Whether rows are left out by sampling.
  bool samples() const;
  /// Leaves out the rows of `columns`, which have origins, that run() would leave out: before any
  /// operator where a rank of a training has to know how many rows remain of what it decodes.
  Status sample(ColumnSet& columns, const TransformContext& context) const;

  /// The stages of the job, which the operators determine.
  const StageList& stages() const { return stages_; }

  /// Whether operators run over repeated columns, in run_repeated().
  bool runs_repeated() const;
  /// Runs the operators whose columns are all in one group of repeated columns, over the stored
  /// rows alone. `columns` are decoded columns with those of Schema::repeated stored once, in sets
  /// that nobody else has; before the rows are mixed, and before run().
  Status run_repeated(ColumnSet& columns, const TransformContext& context) const;

  /// Runs every operator over `columns`, which must match the input schema, then sets values that
  /// are still missing to 0. Columns stored once must have
  /// passed run_repeated(). Fails only if a user's function fails; the error names op, file and
  /// row.
  Status run(ColumnSet& columns, const TransformContext& context) const;

  /// Runs the operators of one of stages() in the same way. The stages before it must have run; the
  /// last one replaces the values that are still missing.
  Status run(const StageInfo& stage, ColumnSet& columns, const TransformContext& context) const;

  /// Changes, during the run, the cost of an operator whose cost is a number (`spin`): microseconds
  /// of CPU a row, 0 to 1e6. `number` counts from 0. Returns kInvalid if there is no such operator
  /// or the cost is out of range.
  Status set_cost(std::size_t number, double microseconds);

  /// The operators as written, one for each, and the steps as run, in order.
  std::vector<PlannedStep> as_written() const;
  std::vector<PlannedStep> as_run() const;
  /// Takes what an earlier run has measured, for each entry of as_run(). Before any run.
  void recall(const std::vector<double>& nanoseconds);

  /// Measures every run from now on, not only a few: two clocks are read between steps.
  void measure_operators() { measures_all_->store(true, std::memory_order_relaxed); }

  /// What one operator took in the runs that were measured, over all actors. A value.
  struct OperatorTime {
    std::string name = {};             ///< As in errors: `transform 1 (log1p)`.
    std::size_t number = 0;            ///< Counts from 0, in the job's list.
    std::chrono::nanoseconds time{0};  ///< Waits for a CPU included.
    std::chrono::nanoseconds cpu{0};   ///< Of the actors' threads; children are waited for.
  };
  /// Returns one entry per operator as written, in order. Of a pass that several operators share,
  /// each has a part in proportion to the guesses. Any thread.
  std::vector<OperatorTime> operator_times() const;

  /// Memory of an actor of the stage beside its splits and its thread, in bytes: its child
  /// processes.
  std::uint64_t actor_bytes(const StageInfo& stage) const;
  /// Resident bytes of all child processes now. Any thread.
  std::uint64_t child_bytes() const;

  /// The most bytes that a split of `rows` rows, `decoded_bytes` large before, holds during `run`.
  std::size_t peak_bytes(std::size_t rows, std::size_t decoded_bytes) const;

  /// The most ids in the sparse columns of output() for `rows` rows. `lists` says which columns
  /// before the first operator may have more than one id in a row; those have at most `list_ids` in
  /// all.
  MostIds most_ids(std::size_t rows, const std::vector<bool>& lists, std::size_t list_ids) const;

  /// For each sparse column of output(): whether a row may have more than one id. `input` says the
  /// same of the columns before the first operator.
  std::vector<bool> lists(const std::vector<bool>& input) const;

  /// A hash of the operator list, stored in the loader's state: a resume with another list fails.
  std::uint64_t fingerprint() const { return fingerprint_; }

 private:
  struct Written;  // a step as it is written
  struct Planned;  // a step as it runs
  struct Entry {   // of as_run(): a range of steps_
    std::string stage;
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  TransformPlan();

  static Result<std::vector<Written>> bind(const std::vector<TransformSpec>& specs,
                                           ColumnSlots& slots, TransformPlan& plan);
  /// Adds the end of every dense column of output(): missing values become 0. With `prune` not
  /// where the steps leave none.
  void add_zeros(bool prune, std::vector<Written>& steps) const;
  /// Puts the steps of each stage into the order in which they run.
  void place(std::vector<Written> steps, bool optimize);
  void place_stage(std::vector<Written> steps, bool optimize);
  /// Decides which steps run over the stored rows of repeated columns.
  void place_repeated();
  bool may_be_stored(const Planned& planned, std::size_t step) const;
  /// Whether the run that begins is one of those that are measured.
  bool measures_this_run() const;
  /// Gives a column of a group a value for each row, in its slot.
  void make_plain(const PlainColumn& plain, StepRun& run) const;
  /// The range of steps_ that a stage runs.
  std::pair<std::size_t, std::size_t> steps_of(const StageInfo& stage) const;
  Status run_step(const Planned& planned, StepRun& run) const;
  /// Runs a step; if `measured`, adds its time to the step's meter as that of so many rows.
  Status run_metered(const Planned& planned, StepRun& run, bool measured, std::size_t rows) const;
  /// Leaves the columns of output(), in its order.
  void keep_live(ColumnSet& columns) const;
  std::vector<Entry> entries() const;
  PlannedStep shown(const Entry& entry) const;
  /// Adds to an operator as written its part of a step as run.
  void add_to(PlannedStep& written, const Planned& planned, double cost) const;
  std::vector<std::string> written_columns(const StepFacts& facts) const;

  std::vector<Planned> steps_;       // as they run
  std::vector<std::size_t> begins_;  // of an operator that begins a stage: its first step
  std::vector<std::string> ops_;     // as written: "log1p"
  std::vector<std::string> names_;   // of the same, for messages: "transform 1 (log1p)"
  Schema input_;
  Schema all_;                           // every column by slot
  std::vector<std::size_t> live_dense_;  // the slots of output(), in its order
  std::vector<std::size_t> live_sparse_;
  /// The slots that the sets of each group keep: first those of output(), in its order, then those
  /// that become plain.
  std::vector<FeatureGroup> stored_;
  std::vector<bool> has_output_;  // of each group: whether a column of it is in output()
  StageList stages_;
  Schema output_;
  Kernels kernels_{};
  std::uint64_t fingerprint_ = 0;
  std::unique_ptr<std::atomic<std::uint64_t>> runs_ =
      std::make_unique<std::atomic<std::uint64_t>>(0);  // of stages
  std::unique_ptr<std::atomic<bool>> measures_all_ = std::make_unique<std::atomic<bool>>(false);
};

/// One line per operator for `forebay inspect --ops`.
struct OpDescription {
  std::string name;
  std::string takes;  ///< "dense", "sparse", "any", …
  std::string gives;
  std::string params;  ///< E.g. "salt = 0, max_value (>= 1)".
  std::string summary;
  std::string missing;  ///< The rule for missing values.
};
const std::vector<OpDescription>& describe_ops();

}  // namespace forebay
