#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "actors/sizing.h"
#include "actors/source/stored/file_list.h"
#include "actors/stage/stage_worker.h"
#include "core/base/text/counted.h"
#include "engine/job/job_spec.h"
#include "engine/job/quantity.h"
#include "engine/outputs/job_files.h"
#include "engine/process/memory_use.h"
#include "engine/process/run_dir.h"
#include "engine/run/beside_buffers.h"
#include "tools/doctor/checks.h"
#include "tools/doctor/network_checks.h"
#include "tools/doctor/repeat_checks.h"
#include "tools/doctor/store_checks.h"
#include "tools/doctor/system_checks.h"
#include "trainer/module.h"
#include "trainer/repeated_bytes.h"
#include "trainer/saving/checkpoint_names.h"
#include "trainer/spec.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

/// Checks one job.
class Look {
 public:
  Look(const JobSpec& job, const JobRun::Hooks& hooks, Figures& figures)
      : job_(job), hooks_(hooks), figures_(figures) {}

  std::vector<Finding> run(const std::optional<TorchProbe>& probe);

 private:
  Result<std::unique_ptr<Dataset>> open(const DatasetSpec& spec) const;
  void look_at_rows(const std::optional<TorchProbe>& probe);
  void look_at_disk(const Dataset& dataset);
  void look_at_evaluation();
  bool reaches_stores();
  Status fits(const Dataset& dataset, const TransformPlan& plan,
              const std::optional<TorchProbe>& probe) const;
  Finding spill_room(const Dataset& dataset) const;
  Finding checkpoints() const;
  std::uint64_t files_wanted(const Dataset& dataset) const;

  const JobSpec& job_;
  const JobRun::Hooks& hooks_;
  Figures& figures_;
  std::optional<Schema> columns_;  ///< Columns of the dataset; nullopt if it cannot be opened.
  std::vector<Finding> checks_;
};

Result<std::unique_ptr<Dataset>> Look::open(const DatasetSpec& spec) const {
  DatasetOptions options = dataset_options(job_, hooks_);
  options.random_access = false;  // Sequential access needs no decompressed copies.
  return open_dataset(spec, job_.columns, options);
}

Status Look::fits(const Dataset& dataset, const TransformPlan& plan,
                  const std::optional<TorchProbe>& probe) const {
  auto shape = shape_of(job_.trainer, plan.output());
  if (!shape) return pass(shape);
  const Sizing sizing(dataset, plan, job_.order);
  std::uint64_t resident = resident_bytes() + bytes_beside_buffers(job_, dataset.is_remote());
  if (probe) {
    resident += kTorchBytes +
                model_bytes(job_.trainer, *shape, job_.order.batch_size, sizing.most_ids()) +
                repeated_bytes(job_.trainer, *shape, plan.output(), job_.order.batch_size);
  }
  auto memory = plan_memory(job_.pipeline, sizing, resident);
  return memory ? Status{} : Status(pass(memory));
}

std::uint64_t Look::files_wanted(const Dataset& dataset) const {
  constexpr std::uint64_t kOthers = 64;  // libraries, logs, the index
  const auto readers = std::uint64_t{job_.pipeline.actors.front()};
  const std::uint64_t each =
      std::min<std::uint64_t>(dataset.files().size(), SplitReader::kMostOpen);
  return readers * each + kOthers;
}

Finding Look::spill_room(const Dataset& dataset) const {
  std::uint64_t packed = 0;
  for (const DatasetFile& file : dataset.files()) {
    if (without_codec_suffix(file.path) != file.path) packed += file.bytes;
  }
  if (packed == 0) return Finding::ok("spill", "no file is packed");
  const std::uint64_t free = free_bytes(job_.run.dir);
  const std::uint64_t room = std::min(job_.run.spill_bytes, free - free / 10);
  const std::string what = "packed files hold " + format_size(packed) +
                           ", run.spill and the disk have room for " + format_size(room);
  if (packed <= room) return Finding::ok("spill", what);
  return Finding::warn(
      "spill", what,
      "shuffled reading may be slow, or refused; make room, raise run.spill, or set "
      "order.shuffle to false");
}

bool Look::reaches_stores() {
  StoreChecks stores = check_stores(job_, hooks_);
  const bool reached = count_bad(stores.findings) == 0;
  std::ranges::move(stores.findings, std::back_inserter(checks_));
  figures_.stores = std::move(stores.json);
  return reached;
}

/// A job's stores are checked before its dataset is opened; here are the files of disks.
void Look::look_at_disk(const Dataset& dataset) {
  std::uint64_t bytes = 0;
  const DatasetFile* largest = nullptr;
  for (const DatasetFile& file : dataset.files()) {
    if (is_in_store(file.path)) continue;
    bytes += file.bytes;
    if (largest == nullptr || file.bytes > largest->bytes) largest = &file;
  }
  if (largest == nullptr) return;
  const auto speed = measure_disk(largest->path);
  checks_.push_back(check_disk_speed(speed, bytes));
  checks_.push_back(
      check_file_cache("", bytes, needs_of(job_), speed ? speed->bytes_per_second() : 0));
}

void Look::look_at_rows(const std::optional<TorchProbe>& probe) {
  auto dataset = open(job_.dataset);
  if (!dataset) {
    checks_.push_back(Finding::bad("dataset", dataset.error()));
    return;
  }
  columns_ = (*dataset)->format().schema();
  checks_.push_back(Finding::ok("dataset", format_counted((*dataset)->files().size(), "file") +
                                               ", " + format_counted((*dataset)->rows(), "row") +
                                               ", " + format_size((*dataset)->bytes())));
  LayoutChecks layout =
      check_parquet_job(job_, **dataset, dataset_options(job_, hooks_).file_systems);
  std::ranges::move(layout.findings, std::back_inserter(checks_));
  figures_.layout = std::move(layout.json);
  if (auto repeats = check_repeats(**dataset)) checks_.push_back(std::move(*repeats));
  look_at_disk(**dataset);
  checks_.push_back(spill_room(**dataset));
  checks_.push_back(check_open_files(files_wanted(**dataset)));
  auto plan = TransformPlan::compile(job_.transforms, (*dataset)->format().schema(),
                                     {.optimize = job_.pipeline.optimize});
  if (!plan) {
    checks_.push_back(Finding::bad("transforms", plan.error()));
    return;
  }
  checks_.push_back(Finding::ok(
      "transforms", std::to_string(job_.transforms.size()) + ", giving " +
                        std::to_string(plan->output().dense.size()) + " dense and " +
                        std::to_string(plan->output().sparse.size()) + " sparse features"));
  auto fit = fits(**dataset, *plan, probe);
  checks_.push_back(fit ? Finding::ok("room", "the job fits into pipeline.memory")
                        : Finding::bad("room", fit.error()));
  const std::string on_device =
      describe_device(job_, plan->output(), Sizing(**dataset, *plan, job_.order).most_ids());
  if (!on_device.empty()) checks_.push_back(Finding::ok("device", on_device));
}

void Look::look_at_evaluation() {
  if (job_.trainer.evaluate.empty()) return;
  DatasetSpec spec = job_.dataset;
  spec.paths = job_.trainer.evaluate;
  auto dataset = open(spec);
  Status fit = dataset ? Status{} : Status(pass(dataset));
  if (dataset && columns_) fit = check_evaluation_columns(**dataset, *columns_);
  checks_.push_back(fit ? Finding::ok("evaluation", format_count((*dataset)->rows()) + " rows")
                        : Finding::bad("evaluation", fit.error()));
}

Finding Look::checkpoints() const {
  const std::string& folder = job_.trainer.checkpoint;
  Finding place = check_writable_path("checkpoints", "trainer.checkpoint", folder);
  if (place.verdict == Finding::Verdict::kBad) return place;
  if (checkpoint_names(folder).empty()) return place;
  return Finding::warn("checkpoints", folder + " holds checkpoints of an earlier run",
                       "train with --resume to go on, or --restart to start anew");
}

std::vector<Finding> Look::run(const std::optional<TorchProbe>& probe) {
  checks_.push_back(check_writable_path("disk", "run.dir", job_.run.dir));
  if (checks_.back().verdict == Finding::Verdict::kBad) return checks_;
  const auto safe = check_outputs(outputs_of(job_, "train"), inputs_of(job_));
  if (!safe) {
    checks_.push_back(Finding::bad("outputs", safe.error()));
    return checks_;
  }
  auto held = RunDir::hold(job_.run.dir);
  if (!held) {
    checks_.push_back(Finding::bad("run", held.error()));
    return checks_;
  }
  checks_.push_back(Finding::ok("run", "no other run holds " + job_.run.dir));
  std::ranges::move(check_network_of(job_), std::back_inserter(checks_));
  if (!reaches_stores()) return checks_;  // Opening the dataset would wait for them again.
  look_at_rows(probe);
  look_at_evaluation();
  const bool keeps =
      job_.trainer.model != TrainerSpec::ModelKind::kNone && !job_.trainer.checkpoint.empty();
  if (keeps) checks_.push_back(checkpoints());
  return checks_;
}

}  // namespace

std::vector<Finding> check_job(const JobSpec& job, const std::optional<TorchProbe>& probe,
                               const JobRun::Hooks& hooks, Figures& figures) {
  return Look(job, hooks, figures).run(probe);
}

}  // namespace forebay
