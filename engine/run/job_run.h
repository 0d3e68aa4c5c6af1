#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "actors/loader_state.h"
#include "actors/memory_shares.h"
#include "actors/pipeline.h"
#include "actors/quarantine.h"
#include "actors/source/dataset.h"
#include "actors/transform/transform.h"
#include "core/base/clock.h"
#include "core/base/result.h"
#include "engine/job/job_spec.h"
#include "engine/run/memory_watch.h"
#include "engine/run/metered_source.h"

namespace forebay {

/// A job's dataset, operators and pipeline: what `ingest`, `train` and an evaluation share.
///
/// Opened in steps, since a model has to be made between them: open() indexes and checks, resume()
/// says where to begin, start() divides the memory and runs the pipeline. Owns all of it. The
/// job must outlive it. Belongs to one thread, but what pipeline() and source() say of theirs
/// holds.
class JobRun {
 public:
  /// Which rows: those trained on, those held out of them, or `trainer.evaluate`'s files.
  enum class Rows : std::uint8_t { kTraining, kHeldOut, kEvaluationFiles };

  struct Hooks {
    std::function<void(const std::string&)> announce;
    std::function<void(std::uint64_t done, std::uint64_t total)> indexing;
    std::function<bool()> stopped;
    std::string index_from = {};  ///< An index folder of another run, to be read only.
  };

  ~JobRun();
  JobRun(const JobRun&) = delete;
  JobRun& operator=(const JobRun&) = delete;

  static Result<std::unique_ptr<JobRun>> open(const JobSpec& job, Rows rows, const Hooks& hooks);

  /// Goes on from `saved`; refused, naming what differs, when it is of another job or dataset, and
  /// (kCorrupt) naming the number that does not fit them.
  Status resume(const LoaderState& saved);

  /// Whether the pipeline will find room beside `resident` bytes; says how much is needed if not.
  Status fits(std::uint64_t resident) const;

  /// What its splits and batches take at their largest.
  MemorySizes sizes() const;

  /// With whom the pipeline shares its splits. What is referred to outlives the pipeline.
  struct Sharing {
    SplitDispatch* dispatch = nullptr;                   ///< Null: with nobody.
    bool makes_splits = true;                            ///< This node's stages work, too.
    std::function<void(const Position&)> on_given = {};  ///< After each batch the trainer took.
    std::function<std::string()> where = {};             ///< Where issued splits are, for a stall.
  };

  /// Before start(): who is told of each batch before it can be taken, on the pipeline's thread;
  /// and of nullptr when the pipeline has ended and what it made has to be let go.
  void announce_batches(std::function<void(const std::shared_ptr<const Batch>&)> to) {
    announce_ = std::move(to);
  }

  /// Starts the pipeline with what `job.pipeline.memory_bytes` leaves beside `resident` bytes.
  Status start(std::uint64_t resident, std::uint64_t max_batches, const Sharing& sharing);
  Status start(std::uint64_t resident, std::uint64_t max_batches) {
    return start(resident, max_batches, Sharing{});
  }

  const Dataset& dataset() const { return *dataset_; }
  const Schema& schema() const { return plan_->output(); }
  const Position& begin() const { return begin_; }
  /// The loader's state at `position`.
  LoaderState state(const Position& position) const;

  /// When start() set the pipeline to work, by clock().
  std::chrono::nanoseconds started() const { return started_; }
  /// After start().
  Pipeline& pipeline() { return *pipeline_; }
  const Pipeline& pipeline() const { return *pipeline_; }
  MeteredSource& source() { return *source_; }
  const MeteredSource& source() const { return *source_; }
  /// What the memory was divided into at the start, beside the bytes that were taken before.
  const MemoryPlan& memory_plan() const { return memory_; }
  std::uint64_t resident_before() const { return resident_; }
  BufferPool& buffers() { return memory_in_use_->buffers; }
  /// What batches lie in: kept by those who hold a batch past close().
  struct BufferMemory {
    explicit BufferMemory(std::uint64_t room) : budget(room), buffers(budget) {}
    MemoryBudget budget;
    BufferPool buffers;
  };
  std::shared_ptr<const void> buffer_memory() const { return memory_in_use_; }
  /// Knows every call of the pipeline's functions; for the one that shows the run.
  MemoryWatch& memory_watch() { return *memory_watch_; }
  /// Bytes of all buffers, idle ones too.
  std::uint64_t buffer_bytes() const { return memory_in_use_->budget.used(); }
  /// What the process should take: what was there before, the slack kept beside it, all buffers.
  /// Any thread.
  std::uint64_t accounted_bytes() const { return resident_ + kMemorySlack + buffer_bytes(); }
  /// What counts against `pipeline.memory` now: the resident memory of the process where it is the
  /// run's alone, else the account. Any thread.
  std::uint64_t used_bytes() const;
  const OrderSpec& order() const { return order_; }
  /// What the decode stage is told: which rows to keep.
  DecodeOptions decode() const;
  std::uint64_t rows_per_batch() const { return order_.batch_size; }
  TransformPlan& plan() { return *plan_; }
  const std::string& quarantine_path() const { return quarantine_path_; }
  const Clock& clock() const { return clock_; }

  /// Where splits are that this node does not make, in a few words; "": nowhere.
  std::string elsewhere() const { return where_ ? where_() : std::string(); }

  /// Ends the stream of batches. From any thread, once.
  void stop();
  /// Lets go of the pipeline and its memory; only the dataset and the schema may be asked for
  /// after, until it is started again.
  void close();

 private:
  JobRun(const JobSpec& job, Rows rows) : job_(job), rows_(rows) {}
  RowFilter filter() const;
  Status open_quarantine();
  Status damaged(const std::vector<BadRow>& rows);

  const JobSpec& job_;
  const Rows rows_;
  OrderSpec order_;
  SystemClock clock_;
  std::unique_ptr<Dataset> dataset_;
  std::unique_ptr<TransformPlan> plan_;
  Position begin_;
  std::string quarantine_path_;
  std::unique_ptr<Quarantine> quarantine_;
  MemoryPlan memory_;
  std::uint64_t resident_ = 0;
  std::chrono::nanoseconds started_{0};
  std::shared_ptr<BufferMemory> memory_in_use_;
  std::unique_ptr<MemoryWatch> memory_watch_;
  std::unique_ptr<Pipeline> pipeline_;
  std::function<std::string()> where_;
  std::function<void(const std::shared_ptr<const Batch>&)> announce_;
  std::unique_ptr<MeteredSource> source_;
};

/// What the job's limit leaves for decoders of compressed files before anything else is there.
std::uint64_t room_to_unpack(const JobSpec& job);

/// Refuses files of `trainer.evaluate` whose columns are not those of the dataset's, in its order,
/// by the first name that differs: their values would be taken for others.
Status check_evaluation_columns(const Dataset& evaluated, const Schema& trained);

}  // namespace forebay
