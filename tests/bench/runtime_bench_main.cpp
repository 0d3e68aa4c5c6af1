// Prints the actor runtime's figures as one line of JSON, as caf_runtime does CAF's.

#include <cstdio>

#include "core/base/clock.h"
#include "tools/bench/runtime_bench.h"

int main() {
  const forebay::SystemClock clock;
  const char* separator = "{";
  for (const forebay::BenchResult& result : forebay::run_runtime_bench({}, clock)) {
    std::printf("%s\"%s\": %.0f", separator, result.name.c_str(), result.value);
    separator = ", ";
  }
  std::printf("}\n");
}
