#include "tools/bench/bench_data.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "tools/process/machine.h"
#include "tools/process/stop_request.h"
#include "tools/synth/synth_files.h"

namespace forebay {

Result<BenchData> BenchData::make(std::uint64_t rows) {
  std::error_code error;
  std::string pattern =
      (std::filesystem::temp_directory_path(error) / "forebay-bench-XXXXXX").string();
  if (error || ::mkdtemp(pattern.data()) == nullptr) {
    return fail(Code::kUnavailable, pattern + ": cannot make a folder for the data; set TMPDIR");
  }
  BenchData data(pattern);
  std::fprintf(stderr, "forebay: writing %llu rows to %s\n", static_cast<unsigned long long>(rows),
               pattern.c_str());
  auto written = write_synth({.rows = rows, .files = 4, .seed = 1, .folder = data.folder_},
                             [](std::uint64_t) { return !StopRequest::requested(); });
  if (!written) return pass(written);
  return data;
}

BenchData::~BenchData() {
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

Result<std::unique_ptr<Dataset>> BenchData::open() const {
  DatasetSpec spec;
  spec.paths = {"*.tsv"};
  DatasetOptions options;
  options.base_dir = folder_;
  options.run_dir = folder_ + "/.forebay";
  options.threads = available_cpus();
  return open_dataset(spec, {}, options);
}

}  // namespace forebay
