#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "actors/input/file_system.h"
#include "actors/loader_state.h"
#include "actors/pipeline.h"
#include "actors/quarantine.h"
#include "actors/rank_share.h"
#include "actors/sizing.h"
#include "actors/source/dataset.h"
#include "actors/source/row_counts.h"
#include "actors/transform/transform.h"
#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/data/most_ids.h"
#include "engine/job/job_spec.h"
#include "engine/run/memory_watch.h"
#include "engine/run/metered_source.h"
#include "engine/run/order_identity.h"

namespace forebay {

/// A job's dataset, operators and pipeline: shared by `ingest`, `train` and evaluations.
///
/// Opened in steps, since a model has to be made between them: open() indexes and checks, resume()
/// sets the start position, start() divides the memory and runs the pipeline. Owns all of it. The
/// job must outlive it. Belongs to one thread; pipeline() and source() have their own thread rules.
class JobRun {
 public:
  /// Selects the rows: training rows, rows held out of them, or the files of `trainer.evaluate`.
  enum class Rows : std::uint8_t { kTraining, kHeldOut, kEvaluationFiles };

  struct Hooks {
    std::function<void(const std::string&)> announce;
    std::function<void(std::uint64_t done, std::uint64_t total)> indexing;
    std::function<bool()> stopped;
    std::string index_from = {};  ///< An index folder of another run, opened read-only.
    /// Counts all that is asked of files and stores; null: a count of this JobRun alone.
    std::shared_ptr<IoCounts> counts = {};
    /// The rank of a training that reads the training rows: all its batches are its share of those
    /// of the job. Counts the rows that remain, if some do not.
    RankShare share = {};
    /// Whether the reader takes batches with Batch::lists_once.
    bool lists_once = false;
  };

  ~JobRun();

  /// kTimeout: the file system or store gave nothing for `run.stall_fail`.
  static Result<std::unique_ptr<JobRun>> open(const JobSpec& job, Rows rows, Hooks hooks);

  /// Continues from `saved`, whether ranks have written it or not. Refuses a state of another job
  /// or dataset, naming the difference, and (kCorrupt) a state whose numbers do not fit them,
  /// naming the number.
  Status resume(const LoaderState& saved);

  /// Returns the bytes that requests to a store, and the threads that help to copy a batch, take
  /// beside all buffers.
  std::uint64_t bytes_beside_buffers() const;

  /// Checks that the pipeline fits into memory in addition to `resident` bytes; the error says how
  /// much is needed.
  Status fits(std::uint64_t resident) const;

  /// Returns the largest sizes of its splits and batches.
  MemorySizes sizes() const;
  /// Returns bounds of the ids in its batches.
  MostIds most_ids() const;

  /// Returns which stages one actor does in one go, on every node of the job: those that the job
  /// lists, or by default all that can, where the tuner decides how many actors there are.
  StageGroups groups() const;
  /// Whether the job leaves the groups to this program: `fuse` is "auto" and the tuner is on.
  bool chooses_groups() const;
  /// Returns the actors of each stage at the start, with these groups.
  std::vector<std::uint32_t> first_actors() const;

  /// How splits are shared with other nodes. Everything it refers to outlives the pipeline.
  struct Sharing {
    SplitDispatch* dispatch = nullptr;  ///< Null: splits are not shared.
    bool makes_splits = true;           ///< Whether this node's stages make splits, too.
    /// Called after each batch that the trainer took.
    std::function<void(const Position&)> on_given = {};
    /// Returns where issued splits are, for a stall report.
    std::function<std::string()> where = {};
  };

  /// Call before start(): sets the function that is called with each batch before the batch can be
  /// taken, on the pipeline's thread, and with nullptr when the pipeline has ended and its batches
  /// must be released.
  void announce_batches(std::function<void(const std::shared_ptr<const Batch>&)> to) {
    announce_ = std::move(to);
  }

  /// Starts the pipeline with the memory that `resident` bytes leave of
  /// `job.pipeline.memory_bytes`.
  Status start(std::uint64_t resident, std::uint64_t max_batches, const Sharing& sharing);
  Status start(std::uint64_t resident, std::uint64_t max_batches) {
    return start(resident, max_batches, Sharing{});
  }

  const Dataset& dataset() const { return *dataset_; }
  /// Returns how many rows of an epoch remain, where that is known before an epoch was read.
  std::optional<std::uint64_t> rows_remaining() const;
  const Schema& schema() const { return plan_->output(); }
  const Position& begin() const { return begin_; }
  /// Returns the numbers of requests to files and stores so far. Any thread.
  const IoCounts& io_counts() const { return *counts_; }
  /// Returns the loader's state at `position`.
  LoaderState state(const Position& position) const;

  /// Returns when start() started the pipeline, by clock().
  std::chrono::nanoseconds started() const { return started_; }
  /// Valid after start().
  Pipeline& pipeline() { return *pipeline_; }
  const Pipeline& pipeline() const { return *pipeline_; }
  MeteredSource& source() { return *source_; }
  const MeteredSource& source() const { return *source_; }
  /// Returns how the memory was divided at the start, without the bytes that were in use before.
  const MemoryPlan& memory_plan() const { return memory_; }
  std::uint64_t resident_before() const { return resident_; }
  BufferPool& buffers() { return memory_in_use_->buffers; }
  /// Memory of the batches. A holder of a batch keeps it beyond close().
  struct BufferMemory {
    explicit BufferMemory(std::uint64_t room) : budget(room), buffers(budget) {}
    MemoryBudget budget;
    BufferPool buffers;
  };
  std::shared_ptr<const void> buffer_memory() const { return memory_in_use_; }
  /// Returns the watch that observes every call of the pipeline's functions; for the code that
  /// shows the run.
  MemoryWatch& memory_watch() { return *memory_watch_; }
  /// Returns the bytes of all buffers, including idle ones.
  std::uint64_t buffer_bytes() const { return memory_in_use_->budget.used(); }
  /// Returns the bytes that the process is expected to use: memory in use before the run, the slack
  /// kept beside it, all buffers. Any thread.
  std::uint64_t accounted_bytes() const { return resident_ + kMemorySlack + buffer_bytes(); }
  /// Returns the bytes that count against `pipeline.memory` now: the resident memory of the process
  /// if it serves this run alone, else accounted_bytes(), and the resident memory of the children
  /// that run functions. Any thread.
  std::uint64_t used_bytes() const;
  const OrderSpec& order() const { return order_; }
  /// Returns the decode stage's options: which rows to keep.
  DecodeOptions decode() const;
  std::uint64_t rows_per_batch() const { return order_.batch_size; }
  TransformPlan& plan() { return *plan_; }
  const TransformPlan& plan() const { return *plan_; }
  /// Returns the damaged rows counted so far, by the runs that this one continues, too. Any thread,
  /// after start().
  std::uint64_t bad_rows() const { return quarantine_ ? quarantine_->count() : begin_.bad_rows; }
  const std::string& quarantine_path() const { return quarantine_path_; }
  const Clock& clock() const { return clock_; }

  /// Returns a short text on where splits are that other nodes make; "" without other nodes.
  std::string elsewhere() const { return where_ ? where_() : std::string(); }

  /// Ends the stream of batches. Any thread, once.
  void stop();
  /// Destroys the pipeline and its memory. Until the next start(), only the dataset and the schema
  /// may be used.
  void close();

 private:
  static Result<std::unique_ptr<JobRun>> open_now(const JobSpec& job, Rows rows,
                                                  const Hooks& hooks);
  JobRun(const JobSpec& job, Rows rows, const Hooks& hooks)
      : job_(job), rows_(rows), share_(hooks.share), lists_once_(hooks.lists_once) {}
  RowFilter filter() const;
  void announce_too_few_rows(const Hooks& hooks) const;
  Status count();
  OrderFacts order_facts() const;
  Result<Position> position_of(const LoaderState& saved);
  Status open_quarantine();
  Status damaged(const std::vector<BadRow>& rows);

  const JobSpec& job_;
  const Rows rows_;
  const RankShare share_;
  const bool lists_once_;
  std::shared_ptr<IoCounts> counts_;
  DatasetOptions options_;
  OrderSpec order_;
  SystemClock clock_;
  std::unique_ptr<Dataset> dataset_;
  std::unique_ptr<TransformPlan> plan_;
  std::optional<RowCounts> remaining_;  // known for ranks, and where a state of ranks is resumed
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

/// Returns how the dataset of a job is opened: where its files are, where its index and its copies
/// lie, and the memory that is free for decoders before anything else is allocated.
DatasetOptions dataset_options(const JobSpec& job, const JobRun::Hooks& hooks);

/// Refuses files of `trainer.evaluate` if their columns differ from the dataset's in name or order,
/// and names the first difference: values would be assigned to wrong columns.
Status check_evaluation_columns(const Dataset& evaluated, const Schema& trained);

}  // namespace forebay
