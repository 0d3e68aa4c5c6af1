#include "tools/bench/training/threads_bench.h"

#include <array>
#include <cstdio>
#include <map>
#include <span>
#include <utility>

#include "core/base/median.h"
#include "core/base/whole_file.h"
#include "tools/bench/bench_process.h"

namespace forebay {
namespace {

struct MeasuredJob {
  const char* name;
  const char* settings;
};

constexpr std::array kMeasuredJobs{
    MeasuredJob{"small_model", ""},
    MeasuredJob{"model",
                "--set trainer.bottom_mlp='[512, 256, 16]' --set trainer.top_mlp='[512, 256, 1]'"},
    MeasuredJob{"transforms", "--set transform.2.microseconds=30"}};

struct Way {
  std::string name;
  std::string settings;
};

/// Returns the default first, then the settings that it is compared with.
std::vector<Way> ways_for(int cpus) {
  const auto threads = [](int count) { return "--set trainer.threads=" + std::to_string(count); };
  std::vector<Way> ways{Way{"default", ""}, Way{"searched", "--set trainer.deterministic=false"}};
  if (cpus > 1) ways.push_back(Way{"one_fewer", threads(cpus - 1)});
  ways.push_back(Way{"one_more", threads(cpus + 1)});
  return ways;
}

Status write_job(const std::string& path, const ThreadsBenchOptions& options) {
  const std::string text =
      "[dataset]\npaths = [\"*.tsv\"]\n[order]\nbatch_size = 2048\nepochs = " +
      std::to_string(options.epochs) +
      "\n[pipeline]\nmemory = \"1GiB\"\ncpus = " + std::to_string(options.cpus) +
      "\n[trainer]\ncheckpoint = \"\"\n"
      "[[transform]]\nop = \"log1p\"\ncolumns = [\"I*\"]\n"
      "[[transform]]\nop = \"sigrid_hash\"\ncolumns = [\"C*\"]\nmax_value = 20000\n"
      "[[transform]]\nop = \"spin\"\nmicroseconds = 0\n";
  return replace_whole(path, text, Sync::kNo);
}

}  // namespace

Result<std::vector<BenchResult>> run_threads_bench(const ThreadsBenchOptions& options) {
  const std::string job = options.folder + "/threads.toml";
  if (auto written = write_job(job, options); !written) return pass(written);
  const std::vector<Way> ways = ways_for(options.cpus);
  std::map<std::pair<std::string, std::string>, std::vector<double>> rates;
  for (int round = 0; round < options.rounds; ++round) {
    for (const MeasuredJob& load : kMeasuredJobs) {
      for (const Way& way : ways) {
        if (options.stopped()) return fail(Code::kUnavailable, "stopped");
        std::string command = "'" + options.program + "' train '" + job + "' --json ";
        command.append(load.settings).append(" ").append(way.settings).append(" 2>/dev/null");
        auto said = numbers_said_by(command);
        if (!said) return pass(said);
        const double rate = (*said)["rows_per_second"];
        rates[{load.name, way.name}].push_back(rate);
        std::fprintf(stderr, "forebay: round %d of %d: %s, threads %s: %.0f rows/s\n", round + 1,
                     options.rounds, load.name, way.name.c_str(), rate);
      }
    }
  }
  std::vector<BenchResult> results;
  for (const MeasuredJob& load : kMeasuredJobs) {
    const double rate = median(rates[{load.name, ways.front().name}]);
    for (const Way& other : std::span(ways).subspan(1)) {
      const double limit = median(rates[{load.name, other.name}]);
      results.push_back({std::string("threads_") + load.name + "_against_" + other.name, rate,
                         "rows/s", limit, rate / limit});
    }
  }
  return results;
}

}  // namespace forebay
