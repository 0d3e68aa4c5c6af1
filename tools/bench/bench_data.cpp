#include "tools/bench/bench_data.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "engine/process/machine.h"
#include "tools/process/stop_request.h"
#include "tools/synth/synth_files.h"

namespace forebay {

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

Result<BenchData> BenchData::make(std::uint64_t rows) {
  auto folder = BenchFolder::make();
  if (!folder) return pass(folder);
  BenchData data(std::move(*folder));
  std::fprintf(stderr, "forebay: writing %llu rows to %s\n", static_cast<unsigned long long>(rows),
               data.folder().c_str());
  auto written = write_synth({.rows = rows, .files = 4, .seed = 1, .folder = data.folder()},
                             [](std::uint64_t) { return !StopRequest::requested(); });
  if (!written) return pass(written);
  return data;
}

Result<std::unique_ptr<Dataset>> BenchData::open() const {
  DatasetSpec spec;
  spec.paths = {"*.tsv"};
  DatasetOptions options;
  options.base_dir = folder();
  options.run_dir = folder() + "/.forebay";
  options.threads = available_cpus();
  return open_dataset(spec, {}, options);
}

}  // namespace forebay
