#include "tools/bench/bench_setup.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "core/base/whole_file.h"
#include "engine/process/machine.h"
#include "tools/process/process_end.h"
#include "tools/synth/synth_files.h"

namespace forebay {

Status Measurements::add(const std::string& name, const Result<double>& value) {
  if (!value) return tl::unexpected<Error>(value.error());
  add(name, *value);
  return {};
}

Status each_round(int rounds, const std::function<Status()>& measure) {
  for (int round = 0; round < rounds; ++round) {
    if (StopRequest::requested()) return fail(Code::kUnavailable, "stopped");
    if (auto measured = measure(); !measured) return measured;
  }
  return {};
}

Result<BenchFolder> BenchFolder::make() {
  std::error_code error;
  std::string pattern =
      (std::filesystem::temp_directory_path(error) / "forebay-bench-XXXXXX").string();
  if (error || ::mkdtemp(pattern.data()) == nullptr) {
    return fail(Code::kUnavailable, pattern + ": cannot make a folder for the data; set TMPDIR");
  }
  return BenchFolder(std::move(pattern));
}

BenchFolder::~BenchFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

Result<BenchFolder> made_up_rows(std::uint64_t rows) {
  auto data = BenchFolder::make();
  if (!data) return data;
  std::fprintf(stderr, "forebay: writing %llu rows to %s\n", static_cast<unsigned long long>(rows),
               data->path().c_str());
  auto written = write_synth({.rows = rows, .files = 4, .seed = 1, .folder = data->path()},
                             [](std::uint64_t) { return !StopRequest::requested(); });
  if (!written) return pass(written);
  return data;
}

Result<std::unique_ptr<Dataset>> open_made_up(const BenchFolder& data) {
  DatasetSpec spec;
  spec.paths = {"*.tsv"};
  DatasetOptions options;
  options.base_dir = data.path();
  options.run_dir = data.path() + "/.forebay";
  options.threads = available_cpus();
  return open_dataset(spec, {}, options);
}

Result<std::string> write_job(const BenchFolder& data, std::uint64_t ids,
                              const std::string& settings) {
  const std::string path = data.path() + "/job.toml";
  const std::string text =
      "[dataset]\npaths = [\"*.tsv\"]\n"
      "[[transform]]\nop = \"log1p\"\ncolumns = [\"I*\"]\n"
      "[[transform]]\nop = \"sigrid_hash\"\ncolumns = [\"C*\"]\nmax_value = " +
      std::to_string(ids) + "\n" + settings;
  if (auto written = replace_whole(path, text, Sync::kNo); !written) return pass(written);
  return path;
}

TrainerSpec bench_model(std::int64_t table_rows, bool small_network) {
  TrainerSpec spec;
  spec.threads = 1;
  spec.embedding_dim = 32;
  spec.max_table_rows = table_rows;
  if (!small_network) {
    spec.bottom_mlp = {512, 256, 64, 32};
    spec.top_mlp = {512, 256, 1};
  }
  return spec;
}

Schema schema_of(const ZipfBatches::Options& batches) {
  Schema schema;
  for (std::size_t i = 0; i < batches.dense; ++i) schema.dense.push_back("I" + std::to_string(i));
  for (std::size_t i = 0; i < batches.features; ++i) {
    schema.sparse.push_back({"C" + std::to_string(i), 0});
  }
  return schema;
}

}  // namespace forebay
