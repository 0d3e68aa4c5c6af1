#include "tools/job/job_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <utility>

#include "tools/job/job_keys.h"
#include "tools/job/known_keys.h"
#include "tools/job/nearest.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

// What is given is far below this; a data file handed in by mistake is far above.
constexpr std::size_t kMostJobBytes = 4U << 20;

Result<std::string> read_text_file(const std::string& path) {
  const auto refuse = [&](const std::string& why) {
    return fail(errno == ENOENT ? Code::kNotFound : Code::kInvalid,
                "job file " + path + ": " + why);
  };
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return refuse(std::strerror(errno));
  if (S_ISDIR(info.st_mode)) return refuse("is a folder; name the job file in it");
  if (!S_ISREG(info.st_mode)) return refuse("is not a regular file");
  if (info.st_size > static_cast<off_t>(kMostJobBytes)) {
    return refuse("is larger than 4 MiB; is it a data file?");
  }
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return refuse(std::strerror(errno));
  std::string text(kMostJobBytes, '\0');
  std::size_t size = 0;
  ssize_t got = 0;
  while (size < text.size() && (got = ::read(file, text.data() + size, text.size() - size)) > 0) {
    size += static_cast<std::size_t>(got);
  }
  const int error = errno;
  ::close(file);
  if (got < 0) return refuse(std::strerror(error));
  text.resize(size);
  return text;
}

std::string resolve(const std::string& base_dir, const std::string& path) {
  if (path.empty() || path.front() == '/' || base_dir == ".") return path;
  return (fs::path(base_dir) / path).string();
}

void read_dataset(JobKeys& keys, DatasetSpec& dataset) {
  std::string delimiter(1, dataset.csv.delimiter);
  keys.text("dataset.format", dataset.format);
  keys.texts("dataset.paths", dataset.paths);
  keys.count("dataset.bad_rows", dataset.bad_rows);
  keys.size("dataset.max_row_bytes", dataset.max_row_bytes);
  keys.text("dataset.csv.delimiter", delimiter);
  keys.flag("dataset.csv.header", dataset.csv.header);
  keys.text("dataset.csv.list_delimiter", dataset.csv.list_delimiter);
  dataset.csv.delimiter = delimiter.front();
}

void read_order(JobKeys& keys, OrderSpec& order) {
  using Shuffle = OrderSpec::Shuffle;
  keys.count("order.seed", order.seed);
  if (const ParamValue* shuffle = keys.find("order.shuffle")) {
    const bool* flag = std::get_if<bool>(shuffle);
    order.shuffle = flag == nullptr ? Shuffle::kFile : *flag ? Shuffle::kAll : Shuffle::kNone;
  }
  keys.choice("order.mode", order.mode,
              {{"exact", OrderSpec::Mode::kExact}, {"arrival", OrderSpec::Mode::kArrival}});
  keys.count("order.epochs", order.epochs);
  keys.count("order.batch_size", order.batch_size);
  keys.flag("order.drop_last", order.drop_last);
}

void read_pipeline(JobKeys& keys, JobSpec& job) {
  PipelineSpec& pipeline = job.pipeline;
  keys.count("pipeline.cpus", pipeline.cpus);
  keys.size("pipeline.memory", pipeline.memory_bytes);
  keys.size("pipeline.prefetch", pipeline.prefetch_bytes);
  keys.count("pipeline.max_actors", job.max_actors);
  keys.count("pipeline.allocation.load", pipeline.allocation.load);
  keys.count("pipeline.allocation.decode", pipeline.allocation.decode);
  keys.count("pipeline.allocation.shuffle", pipeline.allocation.shuffle);
  keys.count("pipeline.allocation.transform", pipeline.allocation.transform);
}

void read_trainer(JobKeys& keys, TrainerSpec& trainer) {
  using Kind = TrainerSpec::ModelKind;
  keys.choice("trainer.model", trainer.model,
              {{"dlrm", Kind::kDlrm}, {"emulated", Kind::kEmulated}, {"none", Kind::kNone}});
  keys.duration("trainer.step", trainer.step);
  keys.text("trainer.device", trainer.device);
  keys.count("trainer.threads", trainer.threads);
  keys.flag("trainer.deterministic", trainer.deterministic);
  keys.count("trainer.seed", trainer.seed);
  keys.choice(
      "trainer.optimizer", trainer.optimizer,
      {{"sgd", TrainerSpec::Optimizer::kSgd}, {"adagrad", TrainerSpec::Optimizer::kAdagrad}});
  keys.number("trainer.learning_rate", trainer.learning_rate);
  keys.count("trainer.embedding_dim", trainer.embedding_dim);
  keys.counts("trainer.bottom_mlp", trainer.bottom_mlp);
  keys.counts("trainer.top_mlp", trainer.top_mlp);
  keys.count("trainer.max_table_rows", trainer.max_table_rows);
  keys.texts("trainer.evaluate", trainer.evaluate);
  keys.number("trainer.evaluate_share", trainer.evaluate_share);
  keys.text("trainer.checkpoint", trainer.checkpoint);
  keys.duration("trainer.checkpoint_every", trainer.checkpoint_every);
}

void read_rest(JobKeys& keys, JobSpec& job) {
  keys.text("tuner.mode", job.tuner.mode);
  keys.text("tuner.policy", job.tuner.policy);
  keys.duration("tuner.period", job.tuner.period);
  keys.text("cluster.listen", job.cluster.listen);
  keys.count("cluster.min_workers", job.cluster.min_workers);
  keys.flag("cluster.local", job.cluster.local);
  keys.text("cluster.keys", job.cluster.keys);
  keys.text("run.dir", job.run.dir);
  keys.size("run.spill", job.run.spill_bytes);
  keys.duration("run.grace", job.run.grace);
  keys.duration("run.stall_after", job.run.stall_after);
  keys.duration("run.stall_fail", job.run.stall_fail);
  // Whichever was given moves the other's default out of its way.
  if (keys.find("run.stall_after") == nullptr) {
    job.run.stall_after = std::min(job.run.stall_after, job.run.stall_fail);
  }
  if (keys.find("run.stall_fail") == nullptr) {
    job.run.stall_fail = std::max(job.run.stall_fail, job.run.stall_after);
  }
}

Result<TransformSpec> read_transform(const JobDocument::Transform& from, std::size_t number) {
  TransformSpec spec;
  const std::string name = "transform " + std::to_string(number);
  for (const auto& [key, given] : from.values) {
    if (key == "op") {
      const auto* op = std::get_if<std::string>(&given.value);
      if (op == nullptr)
        return fail(Code::kInvalid, given.where + ": " + name + ": op must be a string");
      spec.op = *op;
    } else if (key == "columns") {
      const auto* one = std::get_if<std::string>(&given.value);
      const auto* list = std::get_if<std::vector<std::string>>(&given.value);
      if (one == nullptr && list == nullptr) {
        return fail(Code::kInvalid,
                    given.where + ": " + name + ": columns must be a list of strings");
      }
      spec.columns = one != nullptr ? std::vector<std::string>{*one} : *list;
    } else {
      spec.params[key] = given.value;
    }
  }
  if (spec.op.empty()) {
    return fail(Code::kInvalid, from.where + ": " + name + " has no op; see forebay inspect --ops");
  }
  return spec;
}

Status read_transforms(const JobDocument& document, JobSpec& job) {
  for (const JobDocument::Transform& from : document.transforms) {
    auto spec = read_transform(from, job.transforms.size());
    if (!spec) return pass(spec);
    const auto library = spec->params.find("library");
    if (library != spec->params.end()) {
      if (auto* path = std::get_if<std::string>(&library->second)) {
        *path = resolve(job.base_dir, *path);
        // A bare name would be looked for among the system's libraries.
        if (path->find('/') == std::string::npos) path->insert(0, "./");
      }
    }
    job.transforms.push_back(std::move(*spec));
  }
  return {};
}

// What no single key can be blamed for.
Status check_together(const JobSpec& job) {
  const auto refuse = [&](const std::string& what) {
    return fail(Code::kInvalid, job.path + ": " + what);
  };
  const bool csv = job.dataset.format == "csv";
  if (job.dataset.paths.empty()) {
    return refuse(
        "dataset.paths is missing; name the files to read, as in paths = [\"data/*.tsv\"]");
  }
  if (csv && job.columns.label.empty()) {
    return refuse(
        "columns.label is missing; with format = \"csv\" it names the column that holds 0 or 1");
  }
  if (csv && job.columns.dense.empty() && job.columns.sparse.empty()) {
    return refuse(
        "columns.dense and columns.sparse are missing; with format = \"csv\" they name what the "
        "model sees");
  }
  if (!job.dataset.csv.list_delimiter.empty() &&
      job.dataset.csv.list_delimiter.front() == job.dataset.csv.delimiter) {
    return refuse("dataset.csv.list_delimiter must differ from dataset.csv.delimiter");
  }
  if (!job.trainer.evaluate.empty() && job.trainer.evaluate_share > 0) {
    return refuse("trainer.evaluate and trainer.evaluate_share exclude each other; remove one");
  }
  const auto actors = static_cast<std::uint64_t>(job.pipeline.allocation.total());
  if (job.max_actors > 0 && actors > job.max_actors) {
    return refuse("pipeline.allocation has " + std::to_string(actors) +
                  " actors in all, but pipeline.max_actors allows " +
                  std::to_string(job.max_actors));
  }
  if (job.run.stall_fail < job.run.stall_after) {
    return refuse("run.stall_fail must be at least run.stall_after");
  }
  return {};
}

}  // namespace

Result<JobSpec> load_job(const std::string& path, const std::vector<std::string>& sets,
                         const JobDefaults& defaults) {
  auto text = read_text_file(path);
  if (!text) return pass(text);
  auto document = parse_toml(*text, path);
  if (!document) return pass(document);
  for (const std::string& set : sets) {
    if (auto applied = apply_set(*document, set); !applied) return pass(applied);
  }
  return read_job(*document, path, defaults);
}

Result<JobSpec> read_job(const JobDocument& document, const std::string& path,
                         const JobDefaults& defaults) {
  JobSpec job;
  job.path = path;
  job.base_dir = fs::path(path).parent_path().string();
  if (job.base_dir.empty()) job.base_dir = ".";
  job.pipeline.cpus = defaults.cpus;
  job.pipeline.memory_bytes = defaults.memory_bytes;
  job.run.dir = ".forebay";
  if (auto checked = check_keys(document); !checked) return pass(checked);
  JobKeys keys(document);
  read_dataset(keys, job.dataset);
  keys.text("columns.label", job.columns.label);
  keys.texts("columns.dense", job.columns.dense);
  keys.texts("columns.sparse", job.columns.sparse);
  read_order(keys, job.order);
  read_pipeline(keys, job);
  read_trainer(keys, job.trainer);
  read_rest(keys, job);
  job.run.dir = resolve(job.base_dir, job.run.dir);
  job.trainer.checkpoint = resolve(job.base_dir, job.trainer.checkpoint);
  if (auto read = read_transforms(document, job); !read) return pass(read);
  if (auto checked = check_together(job); !checked) return pass(checked);
  job.notes = notes_of(document);
  return job;
}

}  // namespace forebay
