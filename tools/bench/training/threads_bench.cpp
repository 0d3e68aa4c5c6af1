#include <array>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "engine/process/machine.h"
#include "tools/bench/bench.h"
#include "tools/bench/bench_process.h"
#include "tools/bench/bench_setup.h"

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

}  // namespace

BenchResults bench_threads(const BenchOptions& options) {
  const int cpus = available_cpus();
  auto data = made_up_rows(options.rows);
  if (!data) return pass(data);
  // Enough epochs that a search takes a small part of the run.
  auto job = write_job(*data, 20'000,
                       "[[transform]]\nop = \"spin\"\nmicroseconds = 0\n"
                       "[order]\nbatch_size = 2048\nepochs = 3\n"
                       "[pipeline]\nmemory = \"1GiB\"\ncpus = " +
                           std::to_string(cpus) + "\n[trainer]\ncheckpoint = \"\"\n");
  if (!job) return pass(job);
  const std::vector<Way> ways = ways_for(cpus);
  const auto name_of = [](const MeasuredJob& load, const Way& way) {
    return std::string("threads_") + load.name + "_against_" + way.name;
  };
  Measurements all;
  int round = 0;
  auto measured = each_round(options.rounds, [&]() -> Status {
    ++round;
    for (const MeasuredJob& load : kMeasuredJobs) {
      for (const Way& way : ways) {
        std::string command = "'" + options.program + "' train '" + *job + "' --json ";
        command.append(load.settings).append(" ").append(way.settings).append(" 2>/dev/null");
        auto rate = rate_said_by(command);
        if (!rate) return pass(rate);
        all.add(name_of(load, way), *rate);
        std::fprintf(stderr, "forebay: round %d of %d: %s, threads %s: %.0f rows/s\n", round,
                     options.rounds, load.name, way.name.c_str(), *rate);
      }
    }
    return {};
  });
  if (!measured) return pass(measured);
  std::vector<BenchResult> results;
  for (const MeasuredJob& load : kMeasuredJobs) {
    const double rate = all[name_of(load, ways.front())];
    for (const Way& other : std::span(ways).subspan(1)) {
      const std::string name = name_of(load, other);
      results.push_back(BenchResult::over(name, rate, "rows/s", all[name]));
    }
  }
  return results;
}

}  // namespace forebay
