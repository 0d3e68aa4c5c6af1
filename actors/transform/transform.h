#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "actors/pipeline_spec.h"
#include "actors/stage_list.h"
#include "actors/transform/kernels.h"
#include "core/base/result.h"
#include "core/data/buffer_pool.h"
#include "core/data/column_set.h"
#include "core/data/schema.h"

namespace forebay {

struct StepRun;

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
    return compile(specs, input, Missing::kZero);
  }

  /// What becomes of values that are still missing after the last operator.
  enum class Missing : std::uint8_t { kZero, kKept };
  static Result<TransformPlan> compile(const std::vector<TransformSpec>& specs, const Schema& input,
                                       Missing missing);

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

  /// Runs every operator over `columns`, which must match the input schema, then sets values that
  /// are still missing to 0. Fails only if a user's function fails; the error names op, file and
  /// row.
  Status run(ColumnSet& columns, const TransformContext& context) const;

  /// Runs the operators of one of stages() in the same way. The stages before it must have run; the
  /// last one replaces the values that are still missing.
  Status run(const StageInfo& stage, ColumnSet& columns, const TransformContext& context) const;

  /// Changes, during the run, the cost of an operator whose cost is a number (`spin`): microseconds
  /// of CPU a row, 0 to 1e6. `number` counts from 0. Returns kInvalid if there is no such operator
  /// or the cost is out of range.
  Status set_cost(std::size_t number, double microseconds);

  /// Measures each operator from now on: two clocks are read between operators. Off at first.
  void measure_operators() { measured_->on.store(true, std::memory_order_relaxed); }

  /// What one operator took since measure_operators(), over all actors. A value.
  struct OperatorTime {
    std::string name;                  ///< As in errors: `transform 1 (log1p)`.
    std::size_t number = 0;            ///< Counts from 0, in the job's list.
    std::chrono::nanoseconds time{0};  ///< Waits for a CPU included.
    std::chrono::nanoseconds cpu{0};   ///< Of the actors' threads; children are waited for.
  };
  /// Returns one entry per operator, in order. Any thread.
  std::vector<OperatorTime> operator_times() const;

  /// Memory of an actor of the stage beside its splits and its thread, in bytes: its child
  /// processes.
  std::uint64_t actor_bytes(const StageInfo& stage) const;
  /// Resident bytes of all child processes now. Any thread.
  std::uint64_t child_bytes() const;

  /// The most bytes that a split of `rows` rows, `decoded_bytes` large before, holds during `run`.
  std::size_t peak_bytes(std::size_t rows, std::size_t decoded_bytes) const;

  /// For each sparse column of output(): whether a row may have more than one id. `input` says the
  /// same of the columns before the first operator.
  std::vector<bool> lists(const std::vector<bool>& input) const;

  /// A hash of the operator list, stored in the loader's state: a resume with another list fails.
  std::uint64_t fingerprint() const { return fingerprint_; }

 private:
  /// Sums of operator_times(), which all actors add to.
  struct Measured {
    struct Sum {
      std::atomic<std::int64_t> time_ns{0};
      std::atomic<std::int64_t> cpu_ns{0};
    };
    std::atomic<bool> on{false};
    std::vector<Sum> operators = {};
  };

  TransformPlan();
  Status run_step(std::size_t number, StepRun& run) const;

  std::vector<std::unique_ptr<Step>> steps_;
  std::vector<std::string> names_;  // of the steps: "transform 1 (log1p)"
  std::unique_ptr<Measured> measured_ = std::make_unique<Measured>();
  std::size_t input_dense_ = 0;
  std::size_t input_sparse_ = 0;
  StageList stages_;
  Schema output_;
  Kernels kernels_{};
  std::uint64_t fingerprint_ = 0;
  Missing missing_ = Missing::kZero;
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
