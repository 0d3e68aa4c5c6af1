#include "engine/convert/conversion.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "actors/output/group_encoder.h"
#include "actors/pipeline.h"
#include "actors/sizing.h"
#include "core/base/text/utf8.h"
#include "core/base/thread/start_thread.h"
#include "core/base/whole_file.h"
#include "core/data/digest.h"
#include "core/runtime/ticker.h"
#include "engine/outputs/outputs.h"
#include "engine/process/memory_use.h"
#include "engine/run/job_run.h"

namespace forebay {
namespace {

constexpr std::size_t kMostEncoders = 64;
/// How often a request to stop is looked for.
constexpr std::chrono::milliseconds kLook{20};

std::string short_hash_of(const std::string& text) {
  return Digest::of(text.data(), text.size()).hex().substr(0, 16);
}

/// Rows in file order, one epoch, a batch a row group.
OrderSpec file_order(OrderSpec order) {
  order.shuffle = OrderSpec::Shuffle::kNone;
  order.mode = OrderSpec::Mode::kExact;
  order.epochs = 1;
  order.batch_size = OutputKind::kGroupRows;
  order.drop_last = false;
  return order;
}

/// Nothing tunes a conversion: the stages that parse and compute get actors for half of the CPUs.
PipelineSpec with_actors(PipelineSpec pipeline, const StageList& stages) {
  pipeline.actors.resize(stages.size(), 1);
  const auto half = static_cast<std::uint32_t>(std::max(1, pipeline.cpus / 2));
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const auto kind = stages[i].kind;
    const bool computes = kind == StageInfo::Kind::kDecode || kind == StageInfo::Kind::kTransform;
    if (computes) pipeline.actors[i] = std::max(pipeline.actors[i], half);
  }
  return pipeline;
}

/// The schema of the output. Tokens of Criteo have 32 bits, and no operator has changed them.
Schema output_schema(const Schema& schema, const JobSpec& job, bool raw) {
  Schema out = schema;
  if (job.dataset.format != "criteo_tsv" || (!raw && !job.transforms.empty())) return out;
  for (SparseFeature& feature : out.sparse) feature.bound = std::int64_t{1} << 32;
  return out;
}

Status check_names(const std::vector<parquet::OutputColumn>& columns) {
  const auto bad = std::ranges::find_if_not(columns, is_utf8, &parquet::OutputColumn::name);
  if (bad != columns.end()) {
    return fail(Code::kInvalid, "column " + bad->name +
                                    ": its name is not UTF-8, as Parquet demands; rename it in the "
                                    "input or by `output`, leave it out, or convert --to npy");
  }
  std::vector<std::string> names;
  names.reserve(columns.size());
  for (const auto& column : columns) names.push_back(column.name);
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice == names.end()) return {};
  return fail(Code::kInvalid, "two columns are called " + *twice +
                                  ", and Parquet has one of a name; rename one by `output`");
}

}  // namespace

Result<std::unique_ptr<Conversion>> Conversion::open(const JobSpec& job, const ConvertSpec& spec,
                                                     const RunEvents& events,
                                                     const Inputs& inputs) {
  auto held = RunDir::hold(job.run.dir);
  if (!held) return pass(held);
  auto made = std::unique_ptr<Conversion>(  // NOLINT: the constructor is private.
      new Conversion(job, spec, events, std::move(*held)));
  if (auto status = made->cpus_.set(job.pipeline.cpus); !status) return pass(status);
  if (auto status = made->folder_.check(spec.resume); !status) return pass(status);
  if (auto status = made->open_dataset_and_plan(); !status) return pass(status);
  if (auto status = made->choose_output(); !status) return pass(status);
  std::vector<Output> outputs;
  for (const auto& paths : made->paths_) {
    for (const std::string& path : paths) {
      outputs.push_back({.name = "--out", .path = path, .aside = kAside});
    }
  }
  if (auto status = check_outputs(outputs, inputs); !status) return pass(status);
  if (auto status = made->plan_encoders(); !status) return pass(status);
  if (auto status = made->folder_.hold(spec.resume); !status) return pass(status);
  if (auto status = made->open_state(); !status) return pass(status);
  return made;
}

Status Conversion::open_dataset_and_plan() {
  order_ = file_order(job_.order);
  DatasetOptions options = dataset_options(job_, events_.hooks());
  options.random_access = false;
  auto dataset = open_dataset(job_.dataset, job_.columns, options);
  if (!dataset) return pass(dataset);
  dataset_ = std::move(*dataset);
  auto plan = TransformPlan::compile(
      spec_.raw ? std::vector<TransformSpec>() : job_.transforms, dataset_->format().schema(),
      {.missing = spec_.raw ? TransformPlan::Missing::kKept : TransformPlan::Missing::kZero,
       .optimize = job_.pipeline.optimize});
  if (!plan) return pass(plan);
  plan_.emplace(std::move(*plan));
  pipeline_ = with_actors(job_.pipeline, plan_->stages());
  inputs_ = files_of(*dataset_);
  return {};
}

Status Conversion::choose_output() {
  const Schema schema = output_schema(plan_->output(), job_, spec_.raw);
  const std::string label = job_.columns.label.empty() ? "label" : job_.columns.label;
  if (!spec_.sort.empty()) {
    auto column = SortColumn::find(schema, label, job_.columns.weight, spec_.sort);
    if (!column) return pass(column);
    sort_ = *column;
  }
  if (spec_.to == ConvertSpec::To::kNpy) {
    if (schema.weight || !schema.extra.empty()) {
      return fail(Code::kInvalid,
                  "npy has no place for columns.weight and columns.extra; leave them out, or "
                  "convert to parquet");
    }
    kind_ = npy_output(schema);
  } else {
    std::vector<bool> lists;
    for (std::size_t i = 0; i < dataset_->format().schema().sparse.size(); ++i) {
      lists.push_back(dataset_->format().may_have_lists(i));
    }
    auto columns = parquet::columns_of(schema, {.label = label,
                                                .weight = job_.columns.weight,
                                                .may_lack = spec_.raw,
                                                .lists = plan_->lists(lists)});
    if (auto status = check_names(columns); !status) return status;
    kind_ = parquet_output(std::move(columns));
  }
  auto paths = folder_.paths(*dataset_, *kind_);
  if (!paths) return pass(paths);
  paths_ = std::move(*paths);
  return {};
}

ConvertState Conversion::state() const {
  const Schema& schema = dataset_->format().schema();
  std::string names = job_.columns.label + '\n';
  for (const std::string& name : schema.dense) names += name + '\n';
  for (const SparseFeature& feature : schema.sparse) names += '\n' + feature.name;
  names += '\n' + job_.columns.weight;
  for (const ExtraColumn& extra : schema.extra) names += '\n' + extra.name;
  if (const auto& threshold = job_.columns.label_threshold) {
    names += std::to_string(std::bit_cast<std::uint64_t>(*threshold));
  }
  LoaderState state;
  state.position = position_;
  state.fingerprint = dataset_->fingerprint().hex();
  state.identity = {
      {"--to", spec_.to == ConvertSpec::To::kNpy ? "npy" : "parquet"},
      {"--raw", spec_.raw ? "true" : "false"},
      {"order.seed", std::to_string(order_.seed)},
      {"transform", short_hash_of(std::to_string(plan_->fingerprint()))},
      {"columns", short_hash_of(names)},
      {"dataset.format", job_.dataset.format},
  };
  if (sort_) state.identity["--sort"] = spec_.sort;
  return {.loader = std::move(state), .sizes = sizes_};
}

Status Conversion::open_state() {
  quarantine_path_ = job_.run.dir + "/quarantine.tsv";
  const bool resumes = spec_.resume && folder_.has_state();
  if (resumes) {
    auto saved = folder_.read_state(state().loader, paths_);
    if (!saved) return pass(saved);
    position_ = saved->loader.position;
    sizes_ = std::move(saved->sizes);
  } else if (spec_.resume) {
    events_.announce("--out " + spec_.out + " holds no conversion yet; starting anew");
  }
  auto quarantine =
      Quarantine::open({.path = quarantine_path_,
                        .allowed = job_.dataset.bad_rows,
                        .already = position_.bad_rows,
                        .dataset = *dataset_},
                       resumes ? Quarantine::Begin::kResumed : Quarantine::Begin::kFresh);
  if (!quarantine) return pass(quarantine);
  quarantine_ = std::move(*quarantine);
  return {};
}

/// The most bytes of a batch; a list of unknown length is at most as long as what it is decoded
/// from.
std::uint64_t Conversion::largest_batch() const {
  std::uint64_t largest = 0;
  for (const auto& input : inputs_) {
    if (input->num_blocks() == 0) continue;
    const std::uint64_t row_bytes =
        input->largest_bytes() / std::max<std::uint64_t>(input->rows(), 1);
    largest = std::max({largest, Sizing(*input, *plan_, order_).sizes().batch,
                        row_bytes * std::min(input->rows(), order_.batch_size)});
  }
  return largest;
}

std::uint64_t Conversion::resident_with(std::size_t encoders) const {
  const std::uint64_t batch = largest_batch();
  const std::uint64_t sorted = sort_ ? RowSorter::most_bytes(batch, order_.batch_size) : 0;
  return resident_bytes() + kind_->writer_bytes() + encoders * kThreadBytes + sorted +
         EncodePool::most_held(encoders) * (batch + kind_->encoder_bytes(batch));
}

// As many encoders as there are CPUs, or as the memory allows.
Status Conversion::plan_encoders() {
  const auto cpus = static_cast<std::size_t>(std::max(1, pipeline_.cpus));
  Status fits;
  for (num_encoders_ = std::min(cpus, kMostEncoders); num_encoders_ > 0; num_encoders_ /= 2) {
    resident_ = resident_with(num_encoders_);
    fits = {};
    for (const auto& input : inputs_) {
      if (input->num_blocks() == 0) continue;
      auto memory = plan_memory(pipeline_, Sizing(*input, *plan_, order_), resident_);
      if (!memory) fits = pass(memory);
      if (!fits) break;
    }
    if (fits) break;
  }
  if (!fits) return fits;
  // Encoders take batches soon, and batches that wait would only fill memory.
  if (pipeline_.prefetch_bytes == 0) pipeline_.prefetch_bytes = num_encoders_ * largest_batch();
  return check_threads(pipeline_.total_actors() + kOtherActors + num_encoders_ + 4,
                       "this conversion");
}

Status Conversion::run(const std::function<void(std::uint64_t rows, std::uint64_t all)>& progress) {
  const auto began = clock_.now();
  if (auto begun = folder_.begin(state(), paths_); !begun) return begun;
  budget_ = std::make_unique<MemoryBudget>(pipeline_.memory_bytes - resident_ - kMemorySlack);
  buffers_ = std::make_unique<BufferPool>(*budget_);
  const auto accounted = [this] { return resident_ + kMemorySlack + budget_->used(); };
  MemoryWatch memory(accounted);
  if (events_.outgrown && job_.run.owns_process) {
    memory.watch({.limit = [this] { return pipeline_.memory_bytes; }, .fail = events_.outgrown});
  }
  commits_ = std::make_unique<FileCommits>();
  Status done;
  while (done && position_.split < inputs_.size() && !events_.stop_requested()) {
    rows_of_file_ = 0;
    done = convert(position_.split,
                   [&] { progress(position_.rows + rows_of_file_, dataset_->rows()); });
  }
  if (auto named = commits_->finish(); done) done = std::move(named);
  if (events_.outgrown && job_.run.owns_process) memory.stop();
  outcome_.seconds = in_seconds(clock_.now() - began);
  return done;
}

Status Conversion::convert(std::size_t file, const std::function<void()>& progress) {
  const OneFile& input = *inputs_[file];
  const auto writer = kind_->writer(paths_[file], *commits_);
  std::uint64_t bad_rows = 0;
  if (input.num_blocks() > 0) {
    EncodePool encoders(*kind_, num_encoders_, clock_);
    auto memory = plan_memory(pipeline_, Sizing(input, *plan_, order_), resident_);
    if (!memory) return pass(memory);
    Pipeline pipeline({.dataset = input,
                       .plan = *plan_,
                       .order = order_,
                       .actors = pipeline_.actors,
                       .memory = *memory,
                       .decode = {.filter = {}, .keep_origins = plan_->needs_origins()},
                       .start = {},
                       .buffers = *buffers_,
                       .clock = clock_,
                       .on_damaged = [&](const std::vector<BadRow>& rows) {
                         bad_rows += rows.size();
                         return quarantine_->add(rows);
                       }});
    if (auto pumped = pump(pipeline, encoders, *writer, progress); !pumped) return pumped;
    if (events_.stop_requested()) return {};  // the file may lack rows; its destructor removes it
  }
  if (auto done = writer->finish(); !done) return done;
  position_.split = file + 1;
  position_.open_split = position_.split;
  position_.rows += rows_of_file_;
  position_.bad_rows += bad_rows;
  outcome_.rows += rows_of_file_;
  for (const std::uint64_t bytes : writer->sizes()) outcome_.bytes += bytes;
  outcome_.files += writer->sizes().size();
  sizes_.push_back(writer->sizes());
  rows_of_file_ = 0;
  return commits_->then([this, state = state()] { return folder_.write_state(state); });
}

Status Conversion::pump(Pipeline& pipeline, EncodePool& encoders, RowWriter& writer,
                        const std::function<void()>& progress) {
  const Ticker stopping(kLook, [&] {
    if (events_.stop_requested()) pipeline.stop();
  });
  std::optional<RowSorter> sorter;
  if (sort_) sorter.emplace(*sort_, *buffers_);
  while (true) {
    auto batch = pipeline.next();
    if (!batch) return pass(batch);
    if (*batch == nullptr) break;
    if (sorter) sorter->add(**batch);
    Status given;
    if (!sorter) given = give(std::move(*batch), encoders, writer);
    if (sorter && sorter->full()) given = give_sorted(*sorter, encoders, writer);
    if (!given) return given;
    progress();
  }
  if (sorter) {
    if (auto given = give_sorted(*sorter, encoders, writer); !given) return given;
  }
  return write_rest(encoders, writer);
}

Status Conversion::write_rest(EncodePool& encoders, RowWriter& writer) {
  while (!encoders.empty() && !events_.stop_requested()) {
    if (auto written = write_next(encoders, writer); !written) return written;
  }
  return {};
}

Status Conversion::give(std::shared_ptr<const Batch> batch, EncodePool& encoders,
                        RowWriter& writer) {
  if (encoders.full()) {
    if (auto written = write_next(encoders, writer); !written) return written;
  }
  encoders.give(std::move(batch));
  return {};
}

Status Conversion::give_sorted(RowSorter& sorter, EncodePool& encoders, RowWriter& writer) {
  while (!events_.stop_requested()) {
    auto batch = sorter.next(OutputKind::kGroupRows);
    if (batch == nullptr) break;
    if (auto given = give(std::move(batch), encoders, writer); !given) return given;
  }
  return {};
}

Status Conversion::write_next(EncodePool& encoders, RowWriter& writer) {
  auto rows = encoders.take();
  if (!rows) return pass(rows);
  rows_of_file_ += rows->rows;
  auto written = writer.add(*rows);
  encoders.recycle(std::move(*rows));
  return written;
}

ConvertOutcome Conversion::outcome() const {
  ConvertOutcome outcome = outcome_;
  outcome.bad_rows = position_.bad_rows;
  outcome.quarantine = outcome.bad_rows > 0 ? quarantine_path_ : "";
  return outcome;
}

}  // namespace forebay
