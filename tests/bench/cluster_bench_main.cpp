// Prints the figures of `forebay bench wire` that need several nodes, without the rest of the
// program. usage: cluster_bench PROGRAM [remote | emulated] [ROUNDS]
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tools/bench/bench.h"

namespace {

int print(const forebay::BenchResults& results) {
  if (!results) {
    std::fprintf(stderr, "%s\n", results.error().message.c_str());
    return 1;
  }
  for (const forebay::BenchResult& result : *results) {
    std::printf("%-20s %12.3f %-9s limit %12.3f ratio %.3f\n", result.name.c_str(), result.value,
                result.unit.c_str(), result.limit.value_or(0), result.ratio.value_or(0));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  forebay::BenchOptions options;
  options.program = argc > 1 ? argv[1] : "";
  const std::string what = argc > 2 ? argv[2] : "";
  if (argc > 3) options.rounds = std::atoi(argv[3]);
  int failed = 0;
  if (what != "emulated") failed += print(forebay::bench_remote(options));
  if (what != "remote") failed += print(forebay::bench_clusters(options));
  return failed;
}
