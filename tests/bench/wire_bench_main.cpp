// Prints the figures of `forebay bench wire`, without the rest of the program.

#include <cstdio>
#include <cstdlib>

#include "tools/bench/bench.h"

int main(int argc, char** argv) {
  forebay::BenchOptions options{.rounds = 5};
  if (argc > 1) options.rounds = std::atoi(argv[1]);
  if (argc > 2) options.only = argv[2];
  const auto results = forebay::bench_messages(options);
  if (!results) {
    std::fprintf(stderr, "%s\n", results.error().message.c_str());
    return 1;
  }
  for (const forebay::BenchResult& result : *results) {
    std::printf("%-14s %14.2f %-10s  raw %14.2f  ratio %.3f\n", result.name.c_str(), result.value,
                result.unit.c_str(), result.limit.value_or(0), result.ratio.value_or(0));
  }
}
