// Prints the head's figures as one line of JSON. usage: head_bench [FOLDER]

#include <cstdio>

#include "core/base/clock.h"
#include "tools/bench/head_bench.h"

int main(int count, char** arguments) {
  const forebay::SystemClock clock;
  forebay::HeadBenchOptions options;
  options.folder = count > 1 ? arguments[1] : ".";
  const auto results = forebay::run_head_bench(options, clock);
  if (!results) {
    std::fprintf(stderr, "%s\n", results.error().message.c_str());
    return 1;
  }
  const char* separator = "{";
  for (const forebay::BenchResult& result : *results) {
    std::printf("%s\"%s\": %.3f", separator, result.name.c_str(), result.value);
    separator = ", ";
  }
  std::printf("}\n");
}
