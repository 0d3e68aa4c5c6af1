#include "tools/bench/store/store_jobs.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/base/whole_file.h"
#include "tools/bench/bench_process.h"
#include "tools/bench/bench_setup.h"
#include "tools/bench/store/dlrm_files.h"
#include "tools/bench/store/range_dollars.h"

namespace forebay {
namespace {

constexpr int kEpochs = 4;

std::string quoted_list(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "\"" : ", \"") + name + '"';
  return '[' + text + ']';
}

std::string on_disk(const StorePlace& store, const std::string& bucket) {
  return store.folder + '/' + bucket + "/*.parquet";
}

std::string in_store(const std::string& bucket) { return "s3://" + bucket + "/*.parquet"; }

/// Two job files that differ in where the rows are.
struct JobPair {
  std::string disk;
  std::string store;
};

Result<JobPair> write_jobs(const BenchOptions& options, const StorePlace& store,
                           const std::string& bucket, const std::string& settings) {
  const auto write = [&](const std::string& name, const std::string& paths) {
    const std::string path = store.folder + '/' + bucket + '-' + name + ".toml";
    const std::string text =
        settings + "[dataset]\nformat = \"parquet\"\npaths = [\"" + paths +
        "\"]\n[pipeline]\nmemory = \"1GiB\"\n[run]\ndir = \"" + path +
        ".run\"\n[storage]\nendpoint = \"http://127.0.0.1:" + std::to_string(store.port) +
        "\"\ncredentials = \"anonymous\"\nconnections = " + std::to_string(options.connections) +
        "\nrequest_price = " + std::to_string(options.request_price) +
        "\nbyte_price = " + std::to_string(options.byte_price) + '\n';
    auto written = replace_whole(path, text, Sync::kNo);
    return written ? Result<std::string>(path) : pass(written);
  };
  auto disk = write("disk", on_disk(store, bucket));
  if (!disk) return pass(disk);
  auto far = write("store", in_store(bucket));
  if (!far) return pass(far);
  return JobPair{.disk = std::move(*disk), .store = std::move(*far)};
}

/// Runs a job; adds its figures, named `name`_rate and so on.
Status add_ingest(const BenchOptions& options, const std::string& job, const std::string& name,
                  Measurements& all) {
  auto program = MeasuredProgram::start({options.program, "ingest", job, "--json"}, job + ".said");
  if (!program) return pass(program);
  auto cpu = program->cpu_seconds();
  if (!cpu) return pass(cpu);
  auto numbers = last_numbers_in(job + ".said");
  if (!numbers) return pass(numbers);
  all.add(name + "_rate", (*numbers)["rows_per_second"]);
  all.add(name + "_cpu", *cpu / (*numbers)["rows"] * 1e9);
  all.add(name + "_requests", (*numbers)["requests"]);
  all.add(name + "_bytes", (*numbers)["bytes_read"]);
  return {};
}

Status add_both(const BenchOptions& options, const JobPair& jobs, Measurements& all) {
  if (auto status = add_ingest(options, jobs.disk, "disk", all); !status) return status;
  return add_ingest(options, jobs.store, "store", all);
}

Status make_bucket(const StorePlace& store, const std::string& bucket) {
  std::error_code problem;
  std::filesystem::create_directory(store.folder + '/' + bucket, problem);
  if (!problem) return {};
  return fail(Code::kUnavailable, store.folder + ": cannot be written to; set TMPDIR");
}

/// Writes the rows as Parquet, by `forebay convert`.
Status write_criteo_bucket(const BenchOptions& options, const StorePlace& store) {
  auto text = made_up_rows(options.rows * 1000);
  if (!text) return pass(text);
  auto job = write_job(*text, 1, "");
  if (!job) return pass(job);
  auto converted = MeasuredProgram::start(
      {options.program, "convert", *job, "--raw", "--out", store.folder + "/criteo"},
      *job + ".said");
  if (!converted) return pass(converted);
  auto cpu = converted->cpu_seconds();
  return cpu ? Status{} : pass(cpu);
}

/// The program that reads the same columns by polars.
std::string polars_command(const BenchOptions& options, const StorePlace& store,
                           const DlrmFiles& files) {
  std::string columns = "label";
  for (const auto* names : {&files.dense, &files.sparse}) {
    for (const std::string& name : *names) columns += ',' + name;
  }
  return "'" + *options.other + "/venv/bin/python' '" + *options.other +
         "/polars_store.py' --endpoint http://127.0.0.1:" + std::to_string(store.port) +
         " --columns " + columns + " 's3://dlrm/*.parquet'";
}

/// Sums of a way to fetch each row group.
template <class Way>
Fetching of_all_groups(const DlrmFiles& files, const Way& way) {
  Fetching all;
  for (const std::vector<Wanted>& group : files.groups) {
    const Fetching one = way(group);
    all.requests += one.requests;
    all.bytes += one.bytes;
  }
  return all;
}

/// The figures of a billion rows.
class PerBillion {
 public:
  PerBillion(const DlrmFiles& files, const StorePrices& prices)
      : rows_(static_cast<double>(files.rows)), prices_(prices) {}

  double dollars(const Fetching& fetching) const { return fetching.dollars(prices_) / rows_ * 1e9; }

 private:
  double rows_;
  StorePrices prices_;
};

void add_dollars(const BenchOptions& options, const DlrmFiles& files, const Measurements& all,
                 std::vector<BenchResult>& results) {
  const StorePrices prices{.request = options.request_price / 1e3,
                           .byte = options.byte_price / 1e9};
  const PerBillion per_billion(files, prices);
  const RangeRule rule;
  const Fetching best = of_all_groups(files, [&](const std::vector<Wanted>& group) {
    return cheapest_fetching(group, prices, rule.part_bytes);
  });
  const Fetching ours{.requests = static_cast<std::uint64_t>(all["store_requests"] / kEpochs),
                      .bytes = static_cast<std::uint64_t>(all["store_bytes"] / kEpochs)};
  const auto rows = static_cast<double>(files.rows);
  const auto groups = static_cast<double>(files.groups.size());
  results.push_back(BenchResult::under("store_dlrm_dollars", per_billion.dollars(ours), "$/1e9row",
                                       per_billion.dollars(best)));
  results.push_back({"store_dlrm_requests", static_cast<double>(ours.requests) / groups, "/group",
                     static_cast<double>(best.requests) / groups});
  results.push_back({"store_dlrm_bytes", static_cast<double>(ours.bytes) / rows, "B/row",
                     static_cast<double>(files.wanted_bytes()) / rows});
  constexpr std::array<std::uint64_t, 6> kGapsInKiB = {0, 16, 64, 256, 1024, 8192};
  for (const std::uint64_t gap : kGapsInKiB) {
    const Fetching by = of_all_groups(files, [&](const std::vector<Wanted>& group) {
      return fetching_by(group, {.part_bytes = rule.part_bytes, .gap_bytes = gap << 10});
    });
    results.push_back(BenchResult::under("dollars_gap_" + std::to_string(gap) + "KiB",
                                         per_billion.dollars(by), "$/1e9row",
                                         per_billion.dollars(best)));
  }
}

}  // namespace

Result<std::vector<BenchResult>> measure_criteo_job(const BenchOptions& options,
                                                    const StorePlace& store) {
  if (auto status = write_criteo_bucket(options, store); !status) return pass(status);
  auto jobs = write_jobs(options, store, "criteo",
                         "[columns]\nlabel = \"label\"\ndense = [\"I*\"]\nsparse = [\"C*\"]\n"
                         "[order]\nepochs = " +
                             std::to_string(kEpochs) +
                             "\nbatch_size = 8192\n"
                             "[[transform]]\nop = \"log1p\"\ncolumns = [\"I*\"]\n"
                             "[[transform]]\nop = \"sigrid_hash\"\ncolumns = [\"C*\"]\n"
                             "max_value = 1000000\n");
  if (!jobs) return pass(jobs);
  Measurements all;
  auto measured =
      each_round(options.rounds, [&]() -> Status { return add_both(options, *jobs, all); });
  if (!measured) return pass(measured);
  return std::vector<BenchResult>{
      BenchResult::over("store_criteo", all["store_rate"], "rows/s", all["disk_rate"]),
      BenchResult::under("store_criteo_cpu", all["store_cpu"], "ns/row", all["disk_cpu"])};
}

Result<std::vector<BenchResult>> measure_dlrm_job(const BenchOptions& options,
                                                  const StorePlace& store) {
  if (auto status = make_bucket(store, "dlrm"); !status) return pass(status);
  auto files = write_dlrm_files(store.folder + "/dlrm", options.rows * 500);
  if (!files) return pass(files);
  auto jobs = write_jobs(options, store, "dlrm",
                         "[columns]\nlabel = \"label\"\ndense = " + quoted_list(files->dense) +
                             "\nsparse = " + quoted_list(files->sparse) + "\n[order]\nepochs = " +
                             std::to_string(kEpochs) + "\nbatch_size = 16384\n");
  if (!jobs) return pass(jobs);
  Measurements all;
  auto measured = each_round(options.rounds, [&]() -> Status {
    if (auto status = add_both(options, *jobs, all); !status) return status;
    if (!options.other) return {};
    return all.add("polars", rate_said_by(polars_command(options, store, *files)));
  });
  if (!measured) return pass(measured);
  std::vector<BenchResult> results = {
      BenchResult::over("store_dlrm", all["store_rate"], "rows/s", all["disk_rate"]),
      BenchResult::under("store_dlrm_cpu", all["store_cpu"], "ns/row", all["disk_cpu"])};
  if (options.other) {
    results.push_back(
        BenchResult::over("store_dlrm_over_polars", all["store_rate"], "rows/s", all["polars"]));
  }
  add_dollars(options, *files, all, results);
  return results;
}

}  // namespace forebay
