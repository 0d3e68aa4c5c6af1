#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/loader_state.h"
#include "actors/output/row_sorter.h"
#include "actors/quarantine.h"
#include "actors/source/dataset.h"
#include "actors/transform/transform.h"
#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/data/buffer_pool.h"
#include "engine/convert/encode_pool.h"
#include "engine/convert/file_commits.h"
#include "engine/convert/one_file.h"
#include "engine/convert/output_folder.h"
#include "engine/convert/output_kind.h"
#include "engine/job/job_spec.h"
#include "engine/outputs/inputs.h"
#include "engine/process/machine.h"
#include "engine/process/run_dir.h"
#include "engine/run/memory_watch.h"
#include "engine/run/run_events.h"

namespace forebay {

/// What `forebay convert` was asked for.
struct ConvertSpec {
  std::string out;  ///< The folder.
  enum class To : std::uint8_t { kParquet, kNpy };
  To to = To::kParquet;
  bool raw = false;  ///< Leave the transforms out.
  /// Column by which rows are sorted in runs of RowSorter::kRunBytes; empty: rows keep their order.
  std::string sort = {};
  bool resume = false;
};

/// What this run of a conversion did.
struct ConvertOutcome {
  std::uint64_t rows = 0;
  std::uint64_t bytes = 0;  ///< Of the files written.
  std::uint64_t files = 0;
  std::uint64_t bad_rows = 0;  ///< Since the conversion began.
  double seconds = 0;
  std::string quarantine;
};

/// Writes the rows of a job, in file order, as files for training: one output for each input file.
///
/// Runs the job's pipeline over one file after the other and encodes batches on as many threads as
/// the job has CPUs, inside `pipeline.memory`. After each input file it writes a state, from which
/// a later run goes on; the files are the same then, byte for byte. Belongs to one thread; the job
/// must outlive it.
class Conversion {
 public:
  /// Opens the dataset, checks all that can be wrong before the start, and locks the output folder,
  /// which it makes; writes nothing into it. `inputs` are the files that no output may replace.
  static Result<std::unique_ptr<Conversion>> open(const JobSpec& job, const ConvertSpec& spec,
                                                  const RunEvents& events, const Inputs& inputs);

  /// Converts the files that are left. Calls `progress` with the rows so far and those of the
  /// dataset, after every batch. Returns early, without an error, after a request to stop.
  Status run(const std::function<void(std::uint64_t rows, std::uint64_t all)>& progress);

  ConvertOutcome outcome() const;

 private:
  Conversion(const JobSpec& job, ConvertSpec spec, RunEvents events, RunDir held)
      : job_(job),
        spec_(std::move(spec)),
        events_(std::move(events)),
        held_(std::move(held)),
        folder_(spec_.out) {}

  struct Progress;

  Status open_dataset_and_plan();
  Status choose_output();
  Status open_state();
  Status plan_encoders();
  Status convert(std::size_t file, const std::function<void()>& progress);
  Status pump(Pipeline& pipeline, EncodePool& encoders, RowWriter& writer,
              const std::function<void()>& progress);
  Status give(std::shared_ptr<const Batch> batch, EncodePool& encoders, RowWriter& writer);
  Status give_sorted(RowSorter& sorter, EncodePool& encoders, RowWriter& writer);
  Status write_next(EncodePool& encoders, RowWriter& writer);
  Status write_rest(EncodePool& encoders, RowWriter& writer);
  ConvertState state() const;
  std::uint64_t largest_batch() const;
  std::uint64_t resident_with(std::size_t encoders) const;

  const JobSpec& job_;
  const ConvertSpec spec_;
  const RunEvents events_;
  const RunDir held_;
  const CpuLimit cpus_;
  const SystemClock clock_;
  OutputFolder folder_;
  OrderSpec order_;
  PipelineSpec pipeline_;
  std::unique_ptr<Dataset> dataset_;
  std::optional<TransformPlan> plan_;
  std::vector<std::unique_ptr<const OneFile>> inputs_;
  std::unique_ptr<OutputKind> kind_;
  std::optional<SortColumn> sort_;
  std::vector<std::vector<std::string>> paths_;
  Position position_;  // `split`: files converted; rows, bad_rows: of them
  OutputSizes sizes_;  // of the files converted
  std::string quarantine_path_;
  std::unique_ptr<Quarantine> quarantine_;
  std::uint64_t resident_ = 0;
  std::size_t num_encoders_ = 1;
  std::unique_ptr<MemoryBudget> budget_;
  std::unique_ptr<BufferPool> buffers_;
  std::unique_ptr<FileCommits> commits_;
  ConvertOutcome outcome_;
  std::uint64_t rows_of_file_ = 0;
};

}  // namespace forebay
